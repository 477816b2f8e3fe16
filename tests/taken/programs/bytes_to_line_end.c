#include <stdio.h>

int main(void)
{
    char word[40];
    int c, n;
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    while ((c = getchar()) != EOF) {
        n = 0;
        while (c != EOF && c != '\n') {
            if (n < 39)
                word[n++] = c;
            c = getchar();
        }
        word[n] = '\0';
        printf("%s\t%d\n", word, one);
    }
    return 0;
}
