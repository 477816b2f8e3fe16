#include <stdio.h>

int main(void)
{
    int n;
    int one = 1;

#pragma mapreduce mapper key(n) value(one)
    while (scanf("%d", &n) != EOF)
        printf("%d\t%d\n", n, one);
    return 0;
}
