#include <ctype.h>
#include <stdio.h>

int main(void)
{
    int c;
    int one = 1;

#pragma mapreduce mapper key(c) value(one)
    while ((c = getc(stdin)) != EOF)
        if (isalpha(c))
            printf("%c\t%d\n", tolower(c), one);
    return 0;
}
