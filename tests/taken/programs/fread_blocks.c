#include <ctype.h>
#include <stdio.h>

int main(void)
{
    char block[4096];
    size_t got, i;
    int one = 1;

#pragma mapreduce mapper key(i) value(one)
    while ((got = fread(block, 1, sizeof block, stdin)) > 0)
        for (i = 0; i < got; i++)
            if (isupper((unsigned char)block[i]))
                printf("%c\t%d\n", block[i], one);
    return 0;
}
