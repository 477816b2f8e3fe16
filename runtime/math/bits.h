/* The bits of floating-point numbers, in C, C++ and CUDA: of the math library and of the device's C library (libc/bits.cuh).
 *
 * Includes <stdint.h> only where nobody did: the file is included inside a namespace.
 */
#ifndef HM_BITS_H
#define HM_BITS_H

#ifdef __CUDACC__
#define HM_FN __device__ __forceinline__
#elif defined(__cplusplus)
#define HM_FN inline
#else
#include <stdint.h>
#define HM_FN static inline
#endif

#define HM_SIGN 0x8000000000000000ull
#define HM_INFINITY_BITS 0x7ff0000000000000ull
#define HM_QUIET_BIT 0x0008000000000000ull

HM_FN uint64_t hm_bits(double x)
{
#ifdef __CUDACC__
    return (uint64_t)__double_as_longlong(x);
#else
    uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
#endif
}

HM_FN double hm_double(uint64_t bits)
{
#ifdef __CUDACC__
    return __longlong_as_double((long long)bits);
#else
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
#endif
}

HM_FN uint32_t hm_float_bits(float x)
{
#ifdef __CUDACC__
    return __float_as_uint(x);
#else
    uint32_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
#endif
}

HM_FN float hm_float(uint32_t bits)
{
#ifdef __CUDACC__
    return __uint_as_float(bits);
#else
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
#endif
}

HM_FN int hm_is_nan(double x) { return (hm_bits(x) & ~HM_SIGN) > HM_INFINITY_BITS; }
HM_FN int hm_is_infinite(double x) { return (hm_bits(x) & ~HM_SIGN) == HM_INFINITY_BITS; }
HM_FN double hm_quiet(double nan) { return hm_double(hm_bits(nan) | HM_QUIET_BIT); }

/* float to double and back: a NaN keeps its sign and its first bits, as on x86; converting one on a GPU loses them. Widened,
   a NaN that signals still does. */
HM_FN double hm_widen(float x)
{
    const uint32_t bits = hm_float_bits(x);
    if ((bits & 0x7fffffffu) <= 0x7f800000u) return x;
    return hm_double((uint64_t)(bits & 0x80000000u) << 32 | HM_INFINITY_BITS | (uint64_t)(bits & 0x7fffffu) << 29);
}

HM_FN float hm_narrow(double x)
{
    if (!hm_is_nan(x)) return (float)x;
    const uint32_t sign = (uint32_t)(hm_bits(x) >> 32) & 0x80000000u, rest = (uint32_t)(hm_bits(x) >> 29) & 0x3fffffu;
    return hm_float(sign | 0x7fc00000u | rest);
}

#endif
