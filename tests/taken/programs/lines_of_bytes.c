#include <stdio.h>

int main(void)
{
    char word[40], line[200];
    int c, n = 0;
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    while ((c = getchar()) != EOF) {
        if (c != '\n') {
            if (n < 199)
                line[n++] = c;
            continue;
        }
        line[n] = '\0';
        n = 0;
        if (sscanf(line, "%39s", word) == 1)
            printf("%s\t%d\n", word, one);
    }
    return 0;
}
