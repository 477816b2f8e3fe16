#include <ctype.h>
#include <stdio.h>

int main(void)
{
    char c;
    int one = 1;

#pragma mapreduce mapper key(c) value(one)
    while (scanf("%c", &c) == 1)
        if (isupper((unsigned char)c))
            printf("%c\t%d\n", c, one);
    return 0;
}
