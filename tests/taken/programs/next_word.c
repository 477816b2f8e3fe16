#include <ctype.h>
#include <stdio.h>

static int next_word(char *to, int most)
{
    int c, n = 0;

    while ((c = getchar()) != EOF && !isalpha(c))
        ;
    if (c == EOF)
        return 0;
    do {
        if (n < most - 1)
            to[n++] = tolower(c);
        c = getchar();
    } while (c != EOF && isalpha(c));
    to[n] = '\0';
    return n;
}

int main(void)
{
    char word[40];
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    while (next_word(word, sizeof word) > 0)
        printf("%s\t%d\n", word, one);
    return 0;
}
