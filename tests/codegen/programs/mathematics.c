/* math.h, as far as it is exact everywhere: rounding, parts of numbers, classes, infinities; and what a float stays. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void classes(double x, float f)
{
    printf("classes\t%d %d %d %d %d %d\n", isnan(x), isinf(x), isfinite(x) != 0, isnormal(x) != 0, isnormal(f) != 0,
           fpclassify(x));
}

int main(void)
{
    char *line = NULL, *rest;
    size_t size = 0;
    double x, y, whole, part;
    float f;
    int exponent;

#pragma mapreduce mapper key(line) value(x) keylength(100)
    while (getline(&line, &size, stdin) != -1) {
        x = strtod(line, &rest);
        y = strtod(rest, NULL);
        f = (float)x;
        printf("round\t%g %g %g %g %g %g\n", floor(x), ceil(x), trunc(x), round(x), rint(x), nearbyint(y));
        printf("float\t%.9g %.9g %.9g %.9g\n", sqrtf(fabsf(f)), sqrt(fabs(f)), floorf(f / 3), fmaxf(f, 1.5f));
        printf("pair\t%.17g %.17g %.17g %.17g\n", fmin(x, y), fmax(x, y), copysign(x, y), fdim(x, y));
        if (y != 0)
            printf("fmod\t%.17g %.17g\n", fmod(x, y), sqrt(x * x + y * y));
        part = modf(x, &whole);
        printf("parts\t%.17g %g %g\n", part, whole, ldexp(x, 3));
        part = frexp(x, &exponent);
        printf("frexp\t%.17g %d\n", part, exponent);
        printf("long\t%ld %ld %lld\n", lround(x), lrint(x), llround(y));
        printf("limits\t%d %d %d\n", x < INFINITY, -HUGE_VAL < y, x > DBL_MAX / 2);
        classes(x, f);
        classes(x * 1e300 * 1e300, f * 1e-39f);
    }
    free(line);
    return 0;
}
