#include <ctype.h>
#include <stdio.h>

int main(void)
{
    int c, before = 0;
    int one = 1;

#pragma mapreduce mapper key(c) value(one)
    while ((c = getchar()) != EOF) {
        if (isalpha(c) && !isalpha(before))
            printf("%c\t%d\n", c, one);
        before = c;
    }
    return 0;
}
