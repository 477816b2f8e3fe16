/* cbrt, hypot. */
#ifndef HM_ROOTS_H
#define HM_ROOTS_H

#include "base.h"

/* 1 <= m < 8: a quadratic that is within 7 %, then steps that cube the error, then one on pairs. */
HM_FN hm_pair hm_cube_root(double m)
{
    double r = 0.7 + m * (0.27 - m * 0.0138);
    for (int n = 0; n < 2; n++) {
        const double cube = r * r * r;
        r = r * ((cube + 2 * m) / (2 * cube + m));
    }
    const hm_pair square = hm_product(r, r), cube = hm_multiply(square, hm_make(r, 0));
    return hm_fast_sum(r, ((m - cube.hi) - cube.lo) / (3 * square.hi));
}

HM_BIG double hm_cbrt(double x)
{
    const double size = hm_abs(x);
    if (hm_is_nan(x)) return hm_quiet(x);
    if (size == 0 || hm_is_infinite(size)) return x;
    const int small = size < 0x1p-1022;
    const double normal = small ? size * 0x1p54 : size;
    const int exponent = hm_exponent(normal) - 54 * small + 1077; /* 1077 = 3 * 359: no negative numbers to divide */
    const double m = hm_double((hm_bits(normal) & 0x000fffffffffffffull) | (uint64_t)(1023 + exponent % 3) << 52);
    return hm_with_sign(hm_round(hm_cube_root(m)) * hm_power2(exponent / 3 - 359), x);
}

HM_BIG double hm_hypot(double x, double y)
{
    double a = hm_abs(x), b = hm_abs(y);
    if (hm_is_infinite(a) || hm_is_infinite(b)) return hm_infinity();
    if (hm_is_nan(x)) return hm_quiet(x);
    if (hm_is_nan(y)) return hm_quiet(y);
    if (a < b) {
        const double t = a;
        a = b;
        b = t;
    }
    if (a * 0x1p-60 > b || b == 0) return a;
    const int e = a > 0x1p400 ? 600 : a > 0x1p-400 ? 0 : a > 0x1p-900 ? -600 : -1000;
    a *= hm_power2(-e);
    b *= hm_power2(-e);
    return hm_scale(hm_root(hm_add(hm_product(a, a), hm_product(b, b))), e);
}

#endif
