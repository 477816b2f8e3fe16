#include <stdio.h>

int main(void)
{
    long count[256] = {0};
    int c;

#pragma mapreduce mapper key(c) value(count)
    while ((c = getchar()) != EOF)
        count[c]++;
    for (c = 0; c < 256; c++)
        if (count[c])
            printf("%d\t%ld\n", c, count[c]);
    return 0;
}
