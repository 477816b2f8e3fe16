/* Points of a quarter circle: "first count" -> how many of these Halton points lie inside. */
#include <stdio.h>

static double halton(long i, int base)
{
    double f = 1.0, r = 0.0;
    while (i > 0) {
        f = f / base;
        r = r + f * (i % base);
        i = i / base;
    }
    return r;
}

int main(void)
{
    long first, count, i, inside;
    char line[100];

#pragma mapreduce mapper key(inside) value(count)
    while (fgets(line, 100, stdin)) {
        if (sscanf(line, "%ld%ld", &first, &count) < 2) {
            fprintf(stderr, "bad line\n");
            continue;
        }
        inside = 0;
        for (i = first; i < first + count; i++) {
            double x = halton(i, 2) - 0.5, y = halton(i, 3) - 0.5;
            if (x * x + y * y <= 0.25)
                inside++;
        }
        printf("inside\t%ld\n", inside);
        printf("outside\t%ld\n", count - inside);
    }
    return 0;
}
