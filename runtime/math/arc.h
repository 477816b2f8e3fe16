/* asin, acos, atan, atan2. */
#ifndef HM_ARC_H
#define HM_ARC_H

#include "base.h"

#include "angle_tables.h"

/* atan(q), 0 <= q <= 1: around the next j/64, by the difference formula. */
HM_BIG hm_pair hm_atan_pair(hm_pair q)
{
    const int j = (int)(q.hi * 64 + 0.5);
    const double t = j * 0.015625;
    hm_pair d = q;
    if (j) {
        const hm_pair p = hm_product(t, q.hi);
        const hm_pair below = hm_fast_sum(1, p.hi);
        d = hm_divide(hm_sum(q.hi - t, q.lo), hm_make(below.hi, below.lo + (p.lo + t * q.lo)));
    }
    const double z = d.hi * d.hi;
    const double rest = d.hi * z * (-1.0 / 3 + z * (0.2 + z * (-1.0 / 7 + z * (1.0 / 9))));
    const hm_pair s = hm_fast_sum(hm_atan_table[j][0], d.hi);
    return hm_fast_sum(s.hi, s.lo + (d.lo + rest + hm_atan_table[j][1]));
}

/* The angle of the point (x, y), both at least 0, not both 0, neither far below the other. */
HM_BIG hm_pair hm_angle_of(hm_pair y, hm_pair x)
{
    if (y.hi <= x.hi) return hm_atan_pair(hm_divide(y, x));
    return hm_add(hm_make(HM_PI_2_HIGH, HM_PI_2_LOW), hm_negate(hm_atan_pair(hm_divide(x, y))));
}

HM_BIG double hm_atan(double x)
{
    const double size = hm_abs(x);
    if (hm_is_nan(x)) return hm_quiet(x);
    if (size < 0x1p-28) return x;
    if (size > 0x1p60) return hm_with_sign(HM_PI_2_HIGH, x);
    return hm_with_sign(hm_round(hm_angle_of(hm_make(size, 0), hm_make(1, 0))), x);
}

/* atan2 of the sizes, both infinite, or one of them zero or infinite. */
HM_FN double hm_axis(double y, double x)
{
    if (hm_is_infinite(y) && hm_is_infinite(x)) return hm_negative(x) ? 0x1.2d97c7f3321d2p+1 : HM_PI_2_HIGH / 2;
    if (y == 0 || hm_is_infinite(x)) return hm_negative(x) ? HM_PI_HIGH : 0;
    return HM_PI_2_HIGH;
}

HM_BIG double hm_atan2(double y, double x)
{
    if (hm_is_nan(y)) return hm_quiet(y);
    if (hm_is_nan(x)) return hm_quiet(x);
    const double height = hm_abs(y), width = hm_abs(x);
    if (height == 0 || width == 0 || hm_is_infinite(y) || hm_is_infinite(x)) return hm_with_sign(hm_axis(y, x), y);
    const int small = height < 0x1p-1022, thin = width < 0x1p-1022;
    double h = small ? height * 0x1p60 : height, w = thin ? width * 0x1p60 : width;
    const int up = hm_exponent(h) - 60 * small, right = hm_exponent(w) - 60 * thin;
    if (up - right > 60) return hm_with_sign(HM_PI_2_HIGH, y);
    if (up - right < -60) return hm_with_sign(hm_negative(x) ? HM_PI_HIGH : height / width, y);
    h = hm_double((hm_bits(h) & 0x000fffffffffffffull) | (uint64_t)(1023 + up - right) << 52);
    w = hm_double((hm_bits(w) & 0x000fffffffffffffull) | 0x3ff0000000000000ull);
    hm_pair angle = hm_angle_of(hm_make(h, 0), hm_make(w, 0));
    if (hm_negative(x)) angle = hm_add(hm_make(HM_PI_HIGH, HM_PI_LOW), hm_negate(angle));
    return hm_with_sign(hm_round(angle), y);
}

/* sqrt(1 - x^2), 0 <= x <= 1. */
HM_FN hm_pair hm_other_leg(double x) { return hm_root(hm_multiply(hm_sum(1, -x), hm_sum(1, x))); }

HM_BIG double hm_asin(double x)
{
    const double size = hm_abs(x);
    if (hm_is_nan(x)) return hm_quiet(x);
    if (size > 1) return hm_invalid();
    if (size < 0x1p-28) return x;
    return hm_with_sign(hm_round(hm_angle_of(hm_make(size, 0), hm_other_leg(size))), x);
}

HM_BIG double hm_acos(double x)
{
    const double size = hm_abs(x);
    if (hm_is_nan(x)) return hm_quiet(x);
    if (size > 1) return hm_invalid();
    if (size < 0x1p-60) return HM_PI_2_HIGH;
    const hm_pair angle = hm_angle_of(hm_other_leg(size), hm_make(size, 0));
    return hm_round(hm_negative(x) ? hm_add(hm_make(HM_PI_HIGH, HM_PI_LOW), hm_negate(angle)) : angle);
}

#endif
