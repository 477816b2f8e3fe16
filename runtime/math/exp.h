/* exp, exp2, expm1, sinh, cosh, tanh. */
#ifndef HM_EXP_H
#define HM_EXP_H

#include "base.h"

/* exp and exp2 round a double and a small rest; the others need pairs, as what comes after cancels or divides.
 *
 * value * 2^exponent, 1 <= value < 2 but for rounding. */
typedef struct {
    hm_pair value;
    int exponent;
} hm_scaled;

/* 2^(n/128) * e^r, where |r| < 0.003. The value is good to 2^-68. */
HM_BIG hm_scaled hm_exp_reduced(int n, hm_pair r)
{
    const int j = n & 127;
    const double high = hm_exp2_table[j][0], low = hm_exp2_table[j][1];
    const double h = r.hi;
    const double p = r.lo + h * h * (0.5 + h * (1.0 / 6 + h * (1.0 / 24 + h * (1.0 / 120 + h * (1.0 / 720)))));
    const hm_pair e = hm_fast_sum(h, p); /* e^r - 1 */
    const hm_pair product = hm_product(high, e.hi);
    const hm_pair s = hm_fast_sum(high, product.hi);
    hm_scaled result;
    result.value = hm_fast_sum(s.hi, s.lo + (product.lo + (low + (high * e.lo + low * e.hi))));
    result.exponent = (n - j) / 128;
    return result;
}

/* e^(x + low), |x| < 1100, low small against x. */
HM_BIG hm_scaled hm_exp_pair(double x, double low)
{
    const double shift = 0x1.8p52;
    const double n = (x * HM_128_LN2 + shift) - shift;
    const hm_pair s = hm_sum(x - hm_times(n, HM_LN2_128_A), -hm_times(n, HM_LN2_128_B)); /* products and difference exact */
    return hm_exp_reduced((int)n, hm_sum(s.hi, s.lo - n * HM_LN2_128_C + low));
}

/* 2^(n/128) * e^r, where |r| < 0.003 and good to 2^-62: rounded once but for 0.02 units in the last place. */
HM_BIG double hm_exp_rounded(int n, double r)
{
    const int j = n & 127, exponent = (n - j) / 128;
    const double high = hm_exp2_table[j][0], square = r * r;
    const double e = r + square * ((0.5 + r * (1.0 / 6)) + square * (1.0 / 24 + r * (1.0 / 120)));
    const double rest = hm_exp2_table[j][1] + high * e;
    if (exponent > -1000 && exponent < 1000) return (high + rest) * hm_power2(exponent);
    return hm_scale(hm_fast_sum(high, rest), exponent);
}

/* e^(x + low), -746 < x < 710, low small against x. */
HM_FN double hm_exp_of(double x, double low)
{
    const double shift = 0x1.8p52;
    const double n = (x * HM_128_LN2 + shift) - shift;
    return hm_exp_rounded((int)n, (x - hm_times(n, HM_LN2_128_A)) + (low - n * HM_LN2_128_B));
}

HM_BIG double hm_exp(double x)
{
    if (hm_is_nan(x)) return hm_quiet(x);
    if (x > 709.8) return hm_infinity();
    if (x < -745.2) return 0;
    return hm_exp_of(x, 0);
}

HM_BIG double hm_exp2(double x)
{
    if (hm_is_nan(x)) return hm_quiet(x);
    if (x >= 1024) return hm_infinity();
    if (x < -1075.5) return 0;
    const double shift = 0x1.8p52;
    const double n = (x * 128 + shift) - shift, rest = x - n * 0.0078125;
    return hm_exp_rounded((int)n, rest * HM_LN2_HIGH + rest * HM_LN2_LOW);
}

/* e^x - 1, |x| <= 50; good to 2^-62 of itself. */
HM_BIG hm_pair hm_expm1_pair(double x)
{
    if (hm_abs(x) < 0x1p-6) {
        const hm_pair square = hm_product(x, x);
        const double rest = x * square.hi * (1.0 / 6 + x * (1.0 / 24 + x * (1.0 / 120 + x * (1.0 / 720 + x * (
            1.0 / 5040 + x * (1.0 / 40320 + x * (1.0 / 362880 + x * (1.0 / 3628800))))))));
        const hm_pair s = hm_fast_sum(x, 0.5 * square.hi);
        return hm_fast_sum(s.hi, s.lo + (0.5 * square.lo + rest));
    }
    const hm_scaled e = hm_exp_pair(x, 0);
    const double scale = hm_power2(e.exponent);
    const hm_pair s = hm_sum(e.value.hi * scale, -1);
    return hm_fast_sum(s.hi, s.lo + e.value.lo * scale);
}

HM_BIG double hm_expm1(double x)
{
    if (hm_is_nan(x)) return hm_quiet(x);
    if (hm_abs(x) < 0x1p-56) return x;
    if (x < -45) return -1;
    if (x <= 45) return hm_round(hm_expm1_pair(x));
    if (x > 709.8) return hm_infinity();
    const hm_scaled e = hm_exp_pair(x, 0);
    const hm_pair s = hm_fast_sum(e.value.hi, e.exponent > 200 ? 0 : -hm_power2(-e.exponent));
    return hm_scale(hm_fast_sum(s.hi, s.lo + e.value.lo), e.exponent);
}

/* e^x / 2 for 40 <= x. */
HM_FN double hm_half_exp(double x)
{
    if (x > 711) return hm_infinity();
    const hm_scaled e = hm_exp_pair(x, 0);
    return hm_scale(e.value, e.exponent - 1);
}

HM_BIG double hm_sinh(double x)
{
    const double size = hm_abs(x);
    if (hm_is_nan(x)) return hm_quiet(x);
    if (size < 0x1p-28) return x;
    if (size >= 40) return hm_with_sign(hm_half_exp(size), x);
    const hm_pair e = hm_expm1_pair(size); /* (e + e / (e + 1)) / 2 */
    const hm_pair s = hm_add(e, hm_divide(e, hm_add(e, hm_make(1, 0))));
    return hm_with_sign(0.5 * hm_round(s), x);
}

HM_BIG double hm_cosh(double x)
{
    const double size = hm_abs(x);
    if (hm_is_nan(x)) return hm_quiet(x);
    if (size >= 40) return hm_half_exp(size);
    const hm_scaled e = hm_exp_pair(size, 0);
    const double scale = hm_power2(e.exponent);
    const hm_pair p = hm_make(e.value.hi * scale, e.value.lo * scale);
    return 0.5 * hm_round(hm_add(p, hm_divide(hm_make(1, 0), p)));
}

HM_BIG double hm_tanh(double x)
{
    const double size = hm_abs(x);
    if (hm_is_nan(x)) return hm_quiet(x);
    if (size < 0x1p-28) return x;
    if (size > 22) return hm_with_sign(1, x);
    const hm_pair e = hm_expm1_pair(2 * size);
    return hm_with_sign(hm_round(hm_divide(e, hm_add(e, hm_make(2, 0)))), x);
}

#endif
