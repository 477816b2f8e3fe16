#include <stdio.h>

int main(void)
{
    char line[200], bases[200];
    int one = 1;

#pragma mapreduce mapper key(bases) value(one)
    while (fgets(line, sizeof line, stdin)) {
        if (!fgets(bases, sizeof bases, stdin) || !fgets(line, sizeof line, stdin) || !fgets(line, sizeof line, stdin))
            break;
        printf("%.4s\t%d\n", bases, one);
    }
    return 0;
}
