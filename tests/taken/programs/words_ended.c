#include <ctype.h>
#include <stdio.h>

int main(void)
{
    char word[40];
    int c, n = 0;
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    while ((c = getchar()) != EOF) {
        if (isalpha(c)) {
            if (n < 39)
                word[n++] = tolower(c);
        } else if (n > 0) {
            word[n] = '\0';
            printf("%s\t%d\n", word, one);
            n = 0;
        }
    }
    if (n > 0) {
        word[n] = '\0';
        printf("%s\t%d\n", word, one);
    }
    return 0;
}
