#include <ctype.h>
#include <stdio.h>

int main(void)
{
    char word[40];
    int c, n;
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    while ((c = getchar()) != EOF) {
        if (!isalpha(c))
            continue;
        ungetc(c, stdin);
        n = 0;
        while ((c = getchar()) != EOF && isalpha(c))
            if (n < 39)
                word[n++] = tolower(c);
        word[n] = '\0';
        printf("%s\t%d\n", word, one);
    }
    return 0;
}
