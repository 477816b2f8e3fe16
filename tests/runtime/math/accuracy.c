/* The largest error of every function over so many arguments (argv[1]), in units in the last place, against libquadmath's
 * functions of 113 bits. Prints lines `name error x y`. */
#include <math.h>
#include <quadmath.h>
#include <stdio.h>
#include <stdlib.h>

#include "functions.h"
#include "names.h"

#define OURS(name, S) hm_##name
#define QUAD(name, S) name##q

static __float128 two_to(__float128 x) { return powq(2, x); }
#define exp2q two_to

/* Results beyond the largest number or not a number are special.c's business. */
static double error_of(double got, __float128 want)
{
    int exponent;

    if (want == 0 || isnanq(want) || fabsq(want) >= 0x1.fffffffffffff8p1023Q) return 0;
    if (!isfinite(got)) return 1e9;
    frexpq(want, &exponent);
    exponent = exponent < -1021 ? -1074 : exponent - 53;
    return (double)fabsq(scalbnq((__float128)got - want, -exponent));
}

static double wide(void) { return (next() & 1 ? 1 : -1) * exp2(unit() * 2098 - 1074); }
static double near_one(void) { return exp2(unit() * 4 - 2); }

static double exponent_for(double base)
{
    return next() & 1 ? argument() : 745 / log(fabs(base)) * (2 * unit() - 1);
}

int main(int argc, char **argv)
{
    static double (*const ones[ONES])(double) = TABLE(OURS, );
    static __float128 (*const quads[ONES])(__float128) = TABLE(QUAD, );
    static double (*const twos[TWOS])(double, double) = TABLE2(OURS, );
    static __float128 (*const quads2[TWOS])(__float128, __float128) = TABLE2(QUAD, );
    const long count = argc > 1 ? atol(argv[1]) : 100000;

    for (int n = 0; n < NAMES; n++) {
        double worst = 0, at = 0, and = 0;
        for (long i = 0; i < count; i++) {
            const double x = i % 8 == 0 ? wide() : i % 8 < 3 ? near_one() : argument();
            const double y = n == ONES ? exponent_for(x) : i % 2 ? x * wide() * 0x1p-20 : near_one() * x;
            const double error = n < ONES ? error_of(ones[n](x), quads[n](x))
                                          : error_of(twos[n - ONES](x, y), quads2[n - ONES](x, y));
            if (error > worst) worst = error, at = x, and = y;
        }
        printf("%s %.5f %a %a\n", names[n], worst, at, and);
    }
    return 0;
}
