#include <ctype.h>
#include <stdio.h>

int main(void)
{
    int c;
    int one = 1;

#pragma mapreduce mapper key(c) value(one)
    for (c = getchar(); c != EOF; c = getchar()) {
        if (!isdigit(c))
            continue;
        printf("%d\t%d\n", c - '0', one);
    }
    return 0;
}
