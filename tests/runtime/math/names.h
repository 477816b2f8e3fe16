/* The functions under test, by number: those of one argument, then those of two. */
#include <stdint.h>
#include <string.h>

enum { ONES = 19, TWOS = 3, NAMES = ONES + TWOS };
static const char *const names[NAMES] = {
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
    "tanh", "cbrt", "erf", "erfc", "pow", "atan2", "hypot",
};
#define TABLE(P, S)                                                                                                       \
    {P(exp, S), P(exp2, S), P(expm1, S), P(log, S), P(log2, S), P(log10, S), P(log1p, S), P(sin, S), P(cos, S), P(tan, S), \
     P(asin, S), P(acos, S), P(atan, S), P(sinh, S), P(cosh, S), P(tanh, S), P(cbrt, S), P(erf, S), P(erfc, S)}
#define TABLE2(P, S) {P(pow, S), P(atan2, S), P(hypot, S)}

static inline double real(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t bits_in(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t state = 88172645463325252u;
static inline uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 2685821657736338717u;
}
static inline double unit(void) { return (double)(next() >> 11) * 0x1p-53; }

/* Any number, or one of moderate size, or next to a corner. */
static inline double argument(void)
{
    static const double corners[] = {0, 1, 0.5, 2, 709.78, -745.13, 1024, -1074, 710.4, 27.2, 0x1p-28, 0x1p-6, 0x1p20, 22,
                                     1.5707};
    const uint64_t kind = next() % 8;
    if (kind == 0) return real(next());
    if (kind == 1) return real((bits_in(corners[next() % 15]) + next() % 9 - 4) ^ next() << 63);
    if (kind == 2) return (double)(int64_t)(next() % 2001) - 1000;
    if (kind == 3) return (unit() - 0.5) * 2000;
    if (kind == 4) return (unit() - 0.5) * 2;
    return (unit() - 0.5) * 20;
}
