/* The math library's ground: macros for C, C++ and CUDA, sums of two doubles.
 *
 * runtime/math is one text for CPU filters (filter.c) and kernels (runtime/device/libc/libm.cuh): C that is C++ and CUDA too, of
 * + - * / sqrt and integer operations only, each rounded as IEEE 754 says, so that all of them give the same bits. It must
 * be compiled without contraction of a * b + c. README.md says how each function works and how far off it may be.
 *
 * The files are included inside a namespace.
 */
#ifndef HM_BASE_H
#define HM_BASE_H

#include "bits.h"

#ifdef __CUDACC__
#define HM_BIG inline __device__ __noinline__
#define HM_TABLE static __device__ const
#elif defined(__cplusplus)
#define HM_BIG inline __attribute__((noinline))
#define HM_TABLE static const
#else
#define HM_BIG static __attribute__((unused))
#define HM_TABLE static const
#endif

/* hi + lo, where lo is small against hi. */
typedef struct {
    double hi, lo;
} hm_pair;

HM_FN double hm_sqrt(double x)
{
#ifdef __CUDACC__
    return __dsqrt_rn(x);
#else
    return __builtin_sqrt(x);
#endif
}

/* A product that stays one, also where the compiler may contract. */
HM_FN double hm_times(double a, double b)
{
#ifdef __CUDACC__
    return __dmul_rn(a, b);
#else
    return a * b;
#endif
}

HM_FN double hm_abs(double x) { return hm_double(hm_bits(x) & ~HM_SIGN); }
HM_FN double hm_with_sign(double x, double sign) { return hm_double((hm_bits(x) & ~HM_SIGN) | (hm_bits(sign) & HM_SIGN)); }
HM_FN int hm_negative(double x) { return (int)(hm_bits(x) >> 63); }
HM_FN double hm_infinity(void) { return hm_double(HM_INFINITY_BITS); }
/* NaN results are made from bits: which NaN an operation gives is the processor's business. x86's is negative. */
HM_FN double hm_invalid(void) { return hm_double(0xfff8000000000000ull); }

/* 2^e, -1022 <= e <= 1023. */
HM_FN double hm_power2(int e) { return hm_double((uint64_t)(e + 1023) << 52); }
/* The exponent of a normal number. */
HM_FN int hm_exponent(double x) { return (int)(hm_bits(x) >> 52 & 0x7ff) - 1023; }

HM_FN hm_pair hm_make(double hi, double lo)
{
    hm_pair r;
    r.hi = hi;
    r.lo = lo;
    return r;
}

/* a + b exactly, where a is 0 or |a| >= |b|. */
HM_FN hm_pair hm_fast_sum(double a, double b)
{
    const double s = a + b;
    return hm_make(s, b - (s - a));
}

/* a + b exactly. */
HM_FN hm_pair hm_sum(double a, double b)
{
    const double s = a + b, t = s - a;
    return hm_make(s, (a - (s - t)) + (b - t));
}

/* a * b exactly, where nothing over- or underflows: |a|, |b| < 2^990, |a * b| > 2^-960 or 0. */
HM_FN hm_pair hm_product(double a, double b)
{
    const double p = hm_times(a, b), ca = hm_times(134217729.0, a), cb = hm_times(134217729.0, b);
    const double ah = ca - (ca - a), bh = cb - (cb - b), al = a - ah, bl = b - bh;
    return hm_make(p, ((hm_times(ah, bh) - p) + hm_times(ah, bl) + hm_times(al, bh)) + hm_times(al, bl));
}

/* The operations on pairs are good to about 2^-100 of the result, where sums do not cancel. */
HM_FN hm_pair hm_add(hm_pair a, hm_pair b)
{
    const hm_pair s = hm_sum(a.hi, b.hi);
    return hm_fast_sum(s.hi, s.lo + (a.lo + b.lo));
}

HM_FN hm_pair hm_multiply(hm_pair a, hm_pair b)
{
    const hm_pair p = hm_product(a.hi, b.hi);
    return hm_fast_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

HM_BIG hm_pair hm_divide(hm_pair a, hm_pair b)
{
    const double q = a.hi / b.hi;
    const hm_pair p = hm_product(q, b.hi);
    return hm_fast_sum(q, ((a.hi - p.hi) - p.lo + (a.lo - q * b.lo)) / b.hi);
}

HM_FN hm_pair hm_root(hm_pair a)
{
    const double r = hm_sqrt(a.hi);
    const hm_pair p = hm_product(r, r);
    return r == 0 ? hm_make(0, 0) : hm_fast_sum(r, ((a.hi - p.hi) - p.lo + a.lo) / (2 * r));
}

HM_FN hm_pair hm_negate(hm_pair a) { return hm_make(-a.hi, -a.lo); }
HM_FN double hm_round(hm_pair a) { return a.hi + a.lo; }

/* a * 2^e rounded once, for 2^-100 < a < 4; a may be as far off as it likes where e says that the result is normal,
   and up to 2^100 otherwise. */
HM_BIG double hm_scale(hm_pair a, int e)
{
    if (e < -1080) return 0;
    if (e > 1022) return (a.hi + a.lo) * hm_power2(1022) * hm_power2(e > 2044 ? 1022 : e - 1022);
    if (e >= -960) return (a.hi + a.lo) * hm_power2(e);
    if (a.hi >= hm_power2(-1022 - e)) return (a.hi + a.lo) * hm_power2(e + 200) * hm_power2(-200);
    /* Subnormal: the last bit of `grid` is 2^-1074. */
    const double grid = hm_power2(-1022 - e);
    const hm_pair s = hm_fast_sum(grid, a.hi);
    return ((s.hi + (s.lo + a.lo)) - grid) * hm_power2(e + 200) * hm_power2(-200);
}

#include "tables.h"

#endif
