/* erf, erfc. */
#ifndef HM_ERF_H
#define HM_ERF_H

#include "exp.h"

#include "erf_tables.h"

/* erf(x), 2^-200 < x < 1/2. */
HM_BIG hm_pair hm_erf_small(double x)
{
    const hm_pair z = hm_product(x, x);
    double rest = hm_erf_table[11][0];
    for (int n = 10; n >= 2; n--) rest = hm_erf_table[n][0] + z.hi * rest;
    const hm_pair second = hm_fast_sum(hm_erf_table[1][0], z.hi * rest);
    const hm_pair tail = hm_multiply(z, hm_make(second.hi, second.lo + hm_erf_table[1][1]));
    const hm_pair all = hm_fast_sum(hm_erf_table[0][0], tail.hi);
    return hm_multiply(hm_make(x, 0), hm_make(all.hi, all.lo + (tail.lo + hm_erf_table[0][1])));
}

/* erfc(x) = exp(-x^2) * the scaled function, 1/2 <= x < 28. */
HM_BIG hm_scaled hm_erfc_large(double x)
{
    const int row = (int)(hm_bits(x) >> 49) - (1022 << 3); /* exponent and three bits */
    const double *c = hm_erfcx_table[row];
    const double d = x - c[0];
    double rest = c[16];
    for (int n = 15; n >= 5; n--) rest = c[n] + d * rest;
    const hm_pair p = hm_product(c[3], d);
    const hm_pair s = hm_fast_sum(c[1], p.hi);
    const hm_pair g = hm_fast_sum(s.hi, s.lo + (p.lo + (c[2] + c[4] * d) + d * d * rest));
    const hm_pair square = hm_product(x, x);
    hm_scaled e = hm_exp_pair(-square.hi, -square.lo);
    e.value = hm_multiply(e.value, g);
    return e;
}

/* erfc(x), |x| <= 6. */
HM_BIG hm_pair hm_erfc_pair(double x)
{
    const double size = hm_abs(x);
    hm_pair r;
    if (size < 0.5) {
        const hm_pair e = hm_erf_small(size);
        r = hm_add(hm_make(1, 0), hm_negate(e));
    } else {
        const hm_scaled e = hm_erfc_large(size);
        const double scale = hm_power2(e.exponent);
        r = hm_make(e.value.hi * scale, e.value.lo * scale);
    }
    return hm_negative(x) ? hm_add(hm_make(2, 0), hm_negate(r)) : r;
}

HM_BIG double hm_erf(double x)
{
    const double size = hm_abs(x);
    if (hm_is_nan(x)) return hm_quiet(x);
    if (x == 0) return x;
    if (size > 6) return hm_with_sign(1, x);
    if (size >= 0.5) return hm_with_sign(hm_round(hm_add(hm_make(1, 0), hm_negate(hm_erfc_pair(size)))), x);
    if (size >= 0x1p-200) return hm_with_sign(hm_round(hm_erf_small(size)), x);
    const int e = size < 0x1p-900 ? -1000 : -600;
    const hm_pair factor = hm_make(hm_erf_table[0][0], hm_erf_table[0][1]);
    return hm_with_sign(hm_scale(hm_multiply(hm_make(size * hm_power2(-e), 0), factor), e), x);
}

HM_BIG double hm_erfc(double x)
{
    if (hm_is_nan(x)) return hm_quiet(x);
    if (x > 27.5) return 0;
    if (x < -6) return 2;
    if (hm_abs(x) < 0x1p-60) return 1;
    if (x <= 6) return hm_round(hm_erfc_pair(x));
    const hm_scaled e = hm_erfc_large(x);
    return hm_scale(e.value, e.exponent);
}

#endif
