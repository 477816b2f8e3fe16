/* Sums for a line of best fit, one line per map task. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    long n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    char *line = NULL;
    size_t size = 0;
    int x, y;

#pragma mapreduce mapper key(n) value(sx)
    while (getline(&line, &size, stdin) != -1) {
        char *end;
        x = strtol(line, &end, 10);
        if (end == line || *end != ',')
            continue;
        y = strtol(end + 1, NULL, 10);
        n++;
        sx += x;
        sy += y;
        sxx += (long)x * x;
        sxy += (long)x * y;
    }
    printf("fit\t%ld %ld %ld %ld %ld\n", n, sx, sy, sxx, sxy);
    return 0;
}
