#include <stdio.h>

enum { OUT, IN };

int main(void)
{
    char word[40];
    int c, n, state = OUT;
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    while ((c = getchar()) != EOF) {
        if (c == ' ' || c == '\n' || c == '\t') {
            if (state == IN) {
                word[n] = '\0';
                printf("%s\t%d\n", word, one);
            }
            state = OUT;
        } else if (state == OUT) {
            state = IN;
            word[0] = c;
            n = 1;
        } else if (n < 39) {
            word[n++] = c;
        }
    }
    return 0;
}
