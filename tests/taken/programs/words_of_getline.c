#include <ctype.h>
#include <stdio.h>

int main(void)
{
    char word[40], *line = NULL;
    size_t size = 0;
    ssize_t length, i;
    int n = 0;
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    while ((length = getline(&line, &size, stdin)) != -1) {
        for (i = 0; i < length; i++) {
            if (isalpha((unsigned char)line[i])) {
                if (n < 39)
                    word[n++] = line[i];
            } else if (n > 0) {
                word[n] = '\0';
                printf("%s\t%d\n", word, one);
                n = 0;
            }
        }
    }
    return 0;
}
