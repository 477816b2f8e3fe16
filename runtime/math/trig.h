/* sin, cos, tan. */
#ifndef HM_TRIG_H
#define HM_TRIG_H

#include "base.h"

#include "angle_tables.h"

/* quadrant * pi/2 + rest, |rest| <= pi/4 but for rounding; the quadrant modulo 4. */
typedef struct {
    hm_pair rest;
    int quadrant;
} hm_angle;

HM_FN uint64_t hm_high(uint64_t a, uint64_t b)
{
#ifdef __CUDACC__
    return __umul64hi(a, b);
#else
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)a * b >> 64);
#endif
}

/* The 64 bits of 2/pi from `at` on; bit 0 has the weight 2^63, as the table begins with a word of zeros. */
HM_FN uint64_t hm_two_over_pi_bits(int at)
{
    const int word = at / 64, shift = at % 64;
    return shift ? hm_two_over_pi[word] << shift | hm_two_over_pi[word + 1] >> (64 - shift) : hm_two_over_pi[word];
}

HM_FN int hm_leading_zeros(uint64_t x)
{
#ifdef __CUDACC__
    return __clzll((long long)x);
#else
    return x ? __builtin_clzll(x) : 64;
#endif
}

/* x from 2^20 on, in fixed point: bits of 2/pi that give multiples of 4 are left out, 192 further ones are taken. */
HM_BIG hm_angle hm_reduce_large(double x)
{
    const int at = hm_exponent(x) - 52 - 2 + 64;
    const uint64_t m = (hm_bits(x) & 0x000fffffffffffffull) | 0x0010000000000000ull;
    const uint64_t a = hm_two_over_pi_bits(at), b = hm_two_over_pi_bits(at + 64), c = hm_two_over_pi_bits(at + 128);
    const uint64_t low = m * c, mid = m * b + hm_high(m, c);
    const uint64_t high = m * a + hm_high(m, b) + (mid < m * b); /* (high, mid, low) / 2^190 is x * 2/pi modulo 4 */
    uint64_t f = high << 2 | mid >> 62, g = mid << 2 | low >> 62;
    const int up = (int)(f >> 63);
    hm_angle angle;
    angle.quadrant = (int)(high >> 62) + up;
    if (up) { /* minus the distance to the next quadrant */
        g = ~g + 1;
        f = ~f + (g == 0);
    }
    const int zeros = hm_leading_zeros(f);
    if (zeros > 0 && zeros < 64) {
        f = f << zeros | g >> (64 - zeros);
        g <<= zeros;
    }
    const double top = (double)(f >> 11) * 0x1p-53, rest = (double)((f & 0x7ff) << 42 | g >> 22) * 0x1p-106;
    const hm_pair r = hm_multiply(hm_fast_sum(top, rest), hm_make(HM_PI_2_HIGH, HM_PI_2_LOW));
    const double scale = hm_power2(-zeros) * (up ? -1 : 1);
    angle.rest = hm_make(r.hi * scale, r.lo * scale);
    return angle;
}

/* Finite x. */
HM_BIG hm_angle hm_reduce(double x)
{
    const double size = hm_abs(x);
    hm_angle angle;
    if (size <= 0x1.921fb54442d18p-1) {
        angle.rest = hm_make(x, 0);
        angle.quadrant = 0;
        return angle;
    }
    if (size >= 0x1p20) {
        angle = hm_reduce_large(size);
    } else {
        const double shift = 0x1.8p52;
        const double n = (size * HM_2_PI + shift) - shift;
        const double first = size - hm_times(n, HM_PI_2_A); /* exact, as the next two products are */
        const hm_pair s = hm_sum(first, -hm_times(n, HM_PI_2_B)), t = hm_sum(s.hi, -hm_times(n, HM_PI_2_C));
        angle.rest = hm_sum(t.hi, s.lo + t.lo - n * HM_PI_2_D);
        angle.quadrant = (int)n & 3;
    }
    if (hm_negative(x)) {
        angle.rest = hm_negate(angle.rest);
        angle.quadrant = -angle.quadrant;
    }
    return angle;
}

/* Row j of the table, |rest| = j/64 + d, sin(d) - d and cos(d) - 1. */
typedef struct {
    hm_pair d;
    double sine, cosine;
    int row;
} hm_near;

HM_FN hm_near hm_near_of(hm_pair rest)
{
    const hm_pair a = hm_negative(rest.hi) ? hm_negate(rest) : rest;
    hm_near near;
    near.row = (int)(a.hi * 64 + 0.5);
    near.d = hm_sum(a.hi - near.row * 0.015625, a.lo);
    const double z = near.d.hi * near.d.hi;
    near.sine = near.d.hi * z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040)));
    near.cosine = z * (-0.5 + z * (1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320)))) - near.d.hi * near.d.lo;
    return near;
}

/* start + start * (cos d - 1) + factor * sin d: the addition theorem. */
HM_FN hm_pair hm_turn(hm_pair start, hm_pair factor, hm_near near)
{
    const hm_pair p = hm_product(factor.hi, near.d.hi);
    const hm_pair s = hm_fast_sum(start.hi, p.hi);
    const double small = factor.hi * (near.d.lo + near.sine) + factor.lo * near.d.hi + start.hi * near.cosine;
    return hm_fast_sum(s.hi, s.lo + (p.lo + (start.lo + small)));
}

HM_BIG hm_pair hm_sine(hm_pair rest)
{
    const hm_near near = hm_near_of(rest);
    const hm_pair s = hm_make(hm_sine_table[near.row][0], hm_sine_table[near.row][1]);
    const hm_pair c = hm_make(hm_sine_table[near.row][2], hm_sine_table[near.row][3]);
    const hm_pair r = hm_turn(s, c, near);
    return hm_negative(rest.hi) ? hm_negate(r) : r;
}

HM_BIG hm_pair hm_cosine(hm_pair rest)
{
    const hm_near near = hm_near_of(rest);
    const hm_pair s = hm_make(-hm_sine_table[near.row][0], -hm_sine_table[near.row][1]);
    const hm_pair c = hm_make(hm_sine_table[near.row][2], hm_sine_table[near.row][3]);
    return hm_turn(c, s, near);
}

/* The sine of `ahead` quadrants further on; (not finite) NaN. */
HM_BIG double hm_wave(double x, int ahead)
{
    if (hm_is_nan(x)) return hm_quiet(x);
    if (hm_is_infinite(x)) return hm_invalid();
    const hm_angle angle = hm_reduce(x);
    const int quadrant = (angle.quadrant + ahead) & 3;
    const double r = hm_round(quadrant & 1 ? hm_cosine(angle.rest) : hm_sine(angle.rest));
    return quadrant & 2 ? -r : r;
}

HM_FN double hm_sin(double x) { return hm_abs(x) < 0x1p-28 ? x : hm_wave(x, 0); }
HM_FN double hm_cos(double x) { return hm_abs(x) < 0x1p-28 ? 1 : hm_wave(x, 1); }

HM_BIG double hm_tan(double x)
{
    if (hm_is_nan(x)) return hm_quiet(x);
    if (hm_is_infinite(x)) return hm_invalid();
    if (hm_abs(x) < 0x1p-28) return x;
    const hm_angle angle = hm_reduce(x);
    const hm_pair s = hm_sine(angle.rest), c = hm_cosine(angle.rest);
    return hm_round(angle.quadrant & 1 ? hm_divide(hm_negate(c), s) : hm_divide(s, c));
}

#endif
