#include <ctype.h>
#include <stdio.h>

static char word[40];
static int one = 1, n;

static void take(int c)
{
    if (n < 39)
        word[n++] = c;
}

static void flush(void)
{
    if (n > 0) {
        word[n] = '\0';
        printf("%s\t%d\n", word, one);
        n = 0;
    }
}

int main(void)
{
    int c;

#pragma mapreduce mapper key(word) value(one)
    while ((c = getchar()) != EOF) {
        if (isalpha(c))
            take(c);
        else
            flush();
    }
    flush();
    return 0;
}
