/* log, log2, log10, log1p, pow. */
#ifndef HM_LOG_H
#define HM_LOG_H

#include "exp.h"

/* exponent * log 2 + rest is the logarithm. */
typedef struct {
    hm_pair rest;
    int exponent;
} hm_log_parts;

/* Of x + low, for x positive, normal and finite, low at most half a unit of x. Good to 2^-68 of the logarithm where it is
   to be `fine`, else to 2^-61. */
HM_FN hm_log_parts hm_log_near(double x, double low, int fine)
{
    const uint64_t bits = hm_bits(x);
    const int exponent = hm_exponent(x), i = (int)(((bits >> 44 & 0xff) + 1) >> 1);
    const double m = hm_double((bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull);
    const double top = hm_double(hm_bits(m) & ~0x3ffffffull);
    const double c = hm_log_table[i][0];
    hm_log_parts result;
    /* m * c - 1: all exact but the tiny part. */
    hm_pair r = hm_sum(hm_times(top, c) - 1, hm_times(m - top, c));
    if (low != 0) r = hm_sum(r.hi, r.lo + low * hm_power2(-exponent) * c);
    /* log(1 + r) */
    const double h = r.hi;
    const hm_pair square = fine ? hm_product(h, h) : hm_make(h * h, 0);
    const double cubes = h * square.hi * (1.0 / 3 + h * (-0.25 + h * (0.2 + h * (-1.0 / 6 + h * (1.0 / 7 + h * (
        -0.125 + h * (1.0 / 9)))))));
    const hm_pair s = hm_fast_sum(h, -0.5 * square.hi);
    const double small = s.lo + ((r.lo - h * r.lo) - 0.5 * square.lo + cubes);
    const hm_pair t = hm_sum(hm_log_table[i][1], s.hi);
    result.rest = hm_sum(t.hi, t.lo + (small + hm_log_table[i][2]));
    result.exponent = exponent + (i >= 53);
    return result;
}

HM_BIG hm_log_parts hm_log_pair(double x, double low) { return hm_log_near(x, low, 0); }
HM_BIG hm_log_parts hm_log_fine(double x) { return hm_log_near(x, 0, 1); }

HM_FN hm_pair hm_log_total(hm_log_parts parts)
{
    const double e = parts.exponent;
    const hm_pair s = hm_fast_sum(hm_times(e, HM_LN2_PART_HIGH), parts.rest.hi); /* the product is exact */
    return hm_fast_sum(s.hi, s.lo + (parts.rest.lo + e * HM_LN2_PART_LOW));
}

/* Of any positive finite x. */
HM_FN hm_log_parts hm_log_of(double x)
{
    if (x >= 0x1p-1022) return hm_log_pair(x, 0);
    hm_log_parts parts = hm_log_pair(x * 0x1p54, 0);
    parts.exponent -= 54;
    return parts;
}

/* Is x outside of (0, infinity)? Then *result is the logarithm. */
HM_FN int hm_log_special(double x, double *result)
{
    if (x > 0 && x < hm_infinity()) return 0;
    *result = hm_is_nan(x) ? hm_quiet(x) : x == 0 ? -hm_infinity() : x < 0 ? hm_invalid() : x;
    return 1;
}

HM_BIG double hm_log(double x)
{
    double special;
    if (hm_log_special(x, &special)) return special;
    return hm_round(hm_log_total(hm_log_of(x)));
}

HM_BIG double hm_log2(double x)
{
    double special;
    if (hm_log_special(x, &special)) return special;
    const hm_log_parts parts = hm_log_of(x);
    const hm_pair rest = hm_multiply(parts.rest, hm_make(HM_INV_LN2_HIGH, HM_INV_LN2_LOW));
    const hm_pair s = hm_fast_sum(parts.exponent, rest.hi);
    return s.hi + (s.lo + rest.lo);
}

HM_BIG double hm_log10(double x)
{
    double special;
    if (hm_log_special(x, &special)) return special;
    return hm_round(hm_multiply(hm_log_total(hm_log_of(x)), hm_make(HM_INV_LN10_HIGH, HM_INV_LN10_LOW)));
}

HM_BIG double hm_log1p(double x)
{
    if (hm_is_nan(x)) return hm_quiet(x);
    if (x < -1) return hm_invalid();
    if (x == -1) return -hm_infinity();
    if (x == hm_infinity() || hm_abs(x) < 0x1p-56) return x;
    const hm_pair s = hm_sum(1, x);
    return hm_round(hm_log_total(hm_log_pair(s.hi, x < 0x1p200 ? s.lo : 0)));
}

/* 0: not an integer, 1: odd, 2: even, infinite or not a number. */
HM_FN int hm_parity(double y)
{
    const double size = hm_abs(y);
    if (!(size < 0x1p53)) return 2;
    const uint64_t whole = (uint64_t)size;
    return (double)whole != size ? 0 : whole & 1 ? 1 : 2;
}

/* |x|^y where x or y is not a number, infinite or zero, or x is one. */
HM_FN double hm_pow_special(double x, double y)
{
    const double size = hm_abs(x);
    if (x == 1 || y == 0) return 1;
    if (hm_is_nan(x)) return hm_quiet(x);
    if (hm_is_nan(y)) return hm_quiet(y);
    if (size == 1) return 1;
    return (size < 1) == (y < 0) ? hm_infinity() : 0;
}

HM_BIG double hm_pow(double x, double y)
{
    const double size = hm_abs(x);
    const int parity = hm_parity(y);
    const double sign = hm_negative(x) && parity == 1 ? -1 : 1;
    if (!(size > 0 && size < hm_infinity() && hm_abs(y) < hm_infinity()) || y == 0 || size == 1) {
        if (x == -1 && parity == 0) return hm_is_nan(y) ? hm_quiet(y) : hm_invalid();
        const double special = hm_pow_special(x, y);
        return hm_is_nan(special) ? special : sign * special;
    }
    if (x < 0 && parity == 0) return hm_invalid();
    const double strength = hm_abs(y);
    if (strength < 0x1p-70) return 1;
    if (strength > 0x1p66) return sign * ((size < 1) == (y < 0) ? hm_infinity() : 0);
    const int small = size < 0x1p-1022;
    hm_log_parts parts = hm_log_fine(small ? size * 0x1p54 : size);
    parts.exponent -= 54 * small;
    const hm_pair l = hm_log_total(parts);
    const hm_pair p = hm_product(y, l.hi);
    if (p.hi > 709.8) return sign * hm_infinity();
    if (p.hi < -745.2) return sign * 0.0;
    return sign * hm_exp_of(p.hi, p.lo + y * l.lo);
}

#endif
