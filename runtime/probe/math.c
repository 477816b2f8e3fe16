/* The functions of math.h that have one right result; exp, log and their kin are HeteroDoop's own (runtime/math). */
#include "probe.h"

#include <math.h>

#define COUNT(array) (sizeof array / sizeof *array)

static const double corners[] = {0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1, -1, 4503599627370497.5, 9007199254740993.0, 2147483647.5,
                                 -2147483648.5, 1e19, -1e300, 1e300, 5e-324, 2.2250738585072014e-308, 1.0 / 0.0, -1.0 / 0.0, 0.0 / 0.0};

static double argument(unsigned i)
{
    return i < COUNT(corners) ? corners[i] : random_double();
}

/* A NaN's sign and payload say nothing: processors differ. */
static void add_real(double value)
{
    if (value != value)
        value = __builtin_nan("");
    add(&value, sizeof value);
}

#define ONE(name, add, type)                                                               \
    begin();                                                                               \
    for (unsigned i = 0; i < 400; i++) { errno = 0; add(name((type)argument(i))); add_number(errno); } \
    end(#name)
#define TWO(name, type)                                                                    \
    begin();                                                                               \
    for (unsigned i = 0; i < 900; i++) {                                                   \
        const double x = i < 441 ? corners[i / 21] : random_double(), y = i < 441 ? corners[i % 21] : random_double(); \
        errno = 0;                                                                         \
        add_real(name((type)x, (type)y));                                                  \
        add_number(errno);                                                                 \
    }                                                                                      \
    end(#name)
#define SCALES(name, type)                                                                 \
    begin();                                                                               \
    for (unsigned i = 0; i < 400; i++) add_real(name((type)argument(i), (int)below(2400) - 1200)); \
    end(#name)
/* What lround gives for a number that does not fit is left open. */
#define ROUNDS(name, limit)                                                                \
    begin();                                                                               \
    for (unsigned i = 0; i < 400; i++) {                                                   \
        const double x = argument(i);                                                      \
        if (x > -limit && x < limit) add_number((long)name(x));                            \
    }                                                                                      \
    end(#name)

static void parts(void)
{
    begin();
    for (unsigned i = 0; i < 400; i++) {
        int exponent = 0;
        add_real(frexp(argument(i), &exponent));
        add_number(exponent);
    }
    end("frexp");
    begin();
    for (unsigned i = 0; i < 400; i++) {
        double whole;
        add_real(modf(argument(i), &whole));
        add_real(whole);
    }
    end("modf");
    begin();
    for (unsigned i = 0; i < 400; i++)
        add_real(fma(argument(i), random_double(), random_double()));
    end("fma");
}

void probe_math(void)
{
    ONE(sqrt, add_real, double); ONE(sqrtf, add_real, float); ONE(fabs, add_real, double); ONE(fabsf, add_real, float);
    ONE(floor, add_real, double); ONE(floorf, add_real, float); ONE(ceil, add_real, double); ONE(ceilf, add_real, float);
    ONE(trunc, add_real, double); ONE(truncf, add_real, float); ONE(round, add_real, double); ONE(roundf, add_real, float);
    ONE(rint, add_real, double); ONE(rintf, add_real, float); ONE(nearbyint, add_real, double);
    ONE(nearbyintf, add_real, float); ONE(logb, add_real, double); ONE(logbf, add_real, float);
    ONE(ilogb, add_number, double); ONE(ilogbf, add_number, float);
    TWO(fmod, double); TWO(fmodf, float); TWO(fmin, double); TWO(fminf, float); TWO(fmax, double); TWO(fmaxf, float);
    TWO(copysign, double); TWO(copysignf, float); TWO(fdim, double); TWO(fdimf, float);
    SCALES(scalbn, double); SCALES(ldexp, double); SCALES(scalbnf, float); SCALES(ldexpf, float);
    ROUNDS(lround, 9e18); ROUNDS(llround, 9e18); ROUNDS(lrint, 9e18); ROUNDS(llrint, 9e18);
    parts();
}
