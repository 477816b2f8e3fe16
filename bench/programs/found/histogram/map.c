/* A histogram in memory, printed when the input is over. */
#include <stdio.h>

#define BINS 20

int main(void)
{
    long bins[BINS] = { 0 }, below = 0, above = 0;
    double x;
    char line[256];
    int b;

#pragma mapreduce mapper key(b) value(below)
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%lf", &x) != 1)
            continue;
        b = (int)(x / 5.0);
        if (x < 0)
            below++;
        else if (b >= BINS)
            above++;
        else
            bins[b]++;
    }
    printf("%d\t%ld\n", -1, below);
    for (b = 0; b < BINS; b++)
        if (bins[b])
            printf("%d\t%ld\n", b, bins[b]);
    printf("%d\t%ld\n", BINS, above);
    return 0;
}
