// math.h's functions whose results are exactly specified, float and double; names as in C. Processor instructions where
// there are some, else on the bits. errno and the exception flags are not kept; the sign of a NaN that an operation made
// is the processor's. No exp, log, sin and the like: their last bit is the library's.
#pragma once

#include "libc/arith.cuh"
#include "libc/bits.cuh"

namespace hd {

#ifdef __CUDACC__
#define HD_MATH(name) ::name
#else
#define HD_MATH(name) __builtin_##name
#endif
#define HD_UNARY(name)                                              \
    HD_DEVICE double name(double x) { return HD_MATH(name)(x); }    \
    HD_DEVICE float name##f(float x) { return HD_MATH(name##f)(x); }
HD_UNARY(sqrt)
HD_UNARY(fabs)
HD_UNARY(floor)
HD_UNARY(ceil)
HD_UNARY(trunc)
HD_UNARY(rint)
HD_UNARY(nearbyint)
#undef HD_UNARY
HD_DEVICE double fma(double x, double y, double z) { return HD_MATH(fma)(x, y, z); }
HD_DEVICE float fmaf(float x, float y, float z) { return HD_MATH(fmaf)(x, y, z); }
#undef HD_MATH

HD_DEVICE double copysign(double x, double sign) {
    return double_of((bits_of(x) & ~double_sign) | (bits_of(sign) & double_sign));
}
HD_DEVICE float copysignf(float x, float sign) {
    return float_of((bits_of(x) & ~(1u << 31)) | (bits_of(sign) & 1u << 31));
}

// Halves away from zero. x + 0.5 would round once too often.
HD_DEVICE double round(double x) {
    const double whole = hd::trunc(x);
    return hd::fabs(x - whole) >= 0.5 ? whole + hd::copysign(1.0, x) : whole;
}
HD_DEVICE float roundf(float x) { return static_cast<float>(hd::round(x)); }

HD_DEVICE long lround(double x) { return to_i64(hd::round(x)); }
HD_DEVICE long lroundf(float x) { return to_i64(hd::round(x)); }
HD_DEVICE long long llround(double x) { return hd::lround(x); }
HD_DEVICE long long llroundf(float x) { return hd::lroundf(x); }
HD_DEVICE long lrint(double x) { return to_i64(hd::rint(x)); }
HD_DEVICE long lrintf(float x) { return to_i64(hd::rintf(x)); }
HD_DEVICE long long llrint(double x) { return hd::lrint(x); }
HD_DEVICE long long llrintf(float x) { return hd::lrintf(x); }

HD_DEVICE int isnan(double x) { return is_nan(x); }
HD_DEVICE int isinf(double x) { return is_infinite(x) ? (x < 0 ? -1 : 1) : 0; }
HD_DEVICE int isfinite(double x) { return !is_nan(x) && !is_infinite(x); }
HD_DEVICE int isnormal(double x) { return isfinite(x) && hd::fabs(x) >= 0x1p-1022; }
HD_DEVICE int isnormal(float x) { return isfinite(x) && hd::fabsf(x) >= 0x1p-126f; }
HD_DEVICE int signbit(double x) { return static_cast<int>(bits_of(x) >> 63); }
HD_DEVICE int isunordered(double x, double y) { return is_nan(x) || is_nan(y); }

// FP_NAN 0, FP_INFINITE 1, FP_ZERO 2, FP_SUBNORMAL 3, FP_NORMAL 4.
HD_DEVICE int fpclassify(double x) { return is_nan(x) ? 0 : is_infinite(x) ? 1 : x == 0 ? 2 : isnormal(x) ? 4 : 3; }
HD_DEVICE int fpclassify(float x) { return is_nan(x) ? 0 : is_infinite(x) ? 1 : x == 0 ? 2 : isnormal(x) ? 4 : 3; }

// Of equal operands, zeros of unlike sign among them, glibc returns the second. Signalling NaNs are taken for quiet ones.
HD_DEVICE double fmin(double x, double y) { return is_nan(y) || x < y ? x : y; }
HD_DEVICE double fmax(double x, double y) { return is_nan(y) || x > y ? x : y; }
HD_DEVICE float fminf(float x, float y) { return is_nan(y) || x < y ? x : y; }
HD_DEVICE float fmaxf(float x, float y) { return is_nan(y) || x > y ? x : y; }
HD_DEVICE double fdim(double x, double y) { return x <= y ? 0 : x - y; }
HD_DEVICE float fdimf(float x, float y) { return x <= y ? 0 : x - y; }

// x * 2^n, rounded once.
HD_NOINLINE double scalbln(double x, long n) {
    if (x == 0 || !isfinite(x)) return x + x;
    if (n > 5000) n = 5000;
    if (n < -5000) n = -5000;
    const Parts parts = parts_of(x);
    const int zeros = leading_zeros(parts.mantissa) - 11;  // to 53 bits
    const long exponent = parts.exponent - zeros + n;      // of the last bit
    const uint64_t fraction = (parts.mantissa << zeros) & (double_hidden - 1), sign = bits_of(x) & double_sign;
    if (exponent > 971) return double_of(sign | double_infinity);
    if (exponent >= -1074) return double_of(sign | static_cast<uint64_t>(exponent + 1075) << 52 | fraction);
    if (exponent < -1074 - 54) return double_of(sign);
    return double_of(sign | static_cast<uint64_t>(exponent + 1075 + 54) << 52 | fraction) * 0x1p-54;
}
HD_DEVICE double scalbn(double x, int n) { return hd::scalbln(x, n); }
HD_DEVICE double ldexp(double x, int n) { return hd::scalbln(x, n); }

HD_DEVICE float scalblnf(float x, long n) {
    // Rounded to double in between only where the float is zero or infinite anyway.
    return static_cast<float>(hd::scalbln(x, n));
}
HD_DEVICE float scalbnf(float x, int n) { return hd::scalblnf(x, n); }
HD_DEVICE float ldexpf(float x, int n) { return hd::scalblnf(x, n); }

HD_DEVICE double frexp(double x, int *exponent) {
    *exponent = 0;
    if (x == 0 || !isfinite(x)) return x + x;
    const Parts parts = parts_of(x);
    const int zeros = leading_zeros(parts.mantissa) - 11;
    *exponent = parts.exponent - zeros + 53;
    const uint64_t fraction = (parts.mantissa << zeros) & (double_hidden - 1);
    return double_of((bits_of(x) & double_sign) | 1022ull << 52 | fraction);
}
HD_DEVICE float frexpf(float x, int *exponent) { return static_cast<float>(hd::frexp(x, exponent)); }

HD_DEVICE double modf(double x, double *whole) {
    *whole = hd::trunc(x);
    return hd::copysign(is_infinite(x) ? 0 : x - *whole, x);
}
HD_DEVICE float modff(float x, float *whole) {
    *whole = hd::truncf(x);
    return hd::copysignf(is_infinite(x) ? 0 : x - *whole, x);
}

// FP_ILOGB0 and FP_ILOGBNAN are INT_MIN.
HD_DEVICE int ilogb(double x) {
    if (x == 0 || is_nan(x)) return INT32_MIN;
    if (is_infinite(x)) return INT32_MAX;
    const Parts parts = parts_of(x);
    return parts.exponent + 63 - leading_zeros(parts.mantissa);
}
HD_DEVICE int ilogbf(float x) { return hd::ilogb(x); }
HD_DEVICE double logb(double x) {
    if (x == 0) return -double_of(double_infinity);
    return isfinite(x) ? hd::ilogb(x) : x * x;
}
HD_DEVICE float logbf(float x) { return static_cast<float>(hd::logb(x)); }

// The remainder of truncating division, exact: bit after bit of the quotient.
HD_NOINLINE double fmod(double x, double y) {
    if (y == 0 || !isfinite(x) || is_nan(y)) return (x * y) / (x * y);
    const double size = hd::fabs(y);
    if (hd::fabs(x) < size) return x;
    const Parts dividend = parts_of(x), divisor = parts_of(y);
    uint64_t rest = dividend.mantissa % divisor.mantissa;
    if (dividend.exponent < divisor.exponent)  // only where y is larger in its last place: compare in x's places
        rest = dividend.mantissa % (divisor.mantissa << (divisor.exponent - dividend.exponent));
    for (int n = dividend.exponent - divisor.exponent; n > 0 && rest;) {
        const int step = n < 11 ? n : 11;  // rest has 53 bits
        rest = (rest << step) % divisor.mantissa;
        n -= step;
    }
    const int exponent = dividend.exponent < divisor.exponent ? dividend.exponent : divisor.exponent;
    return hd::copysign(hd::scalbln(static_cast<double>(rest), exponent), x);
}
HD_DEVICE float fmodf(float x, float y) { return static_cast<float>(hd::fmod(x, y)); }

HD_DEVICE double nextafter(double x, double y) {
    if (is_nan(x) || is_nan(y)) return x + y;
    if (x == y) return y;
    if (x == 0) return hd::copysign(double_of(1), y);
    const bool grows = (x < y) == (x > 0);
    return double_of(grows ? bits_of(x) + 1 : bits_of(x) - 1);
}
HD_DEVICE float nextafterf(float x, float y) {
    if (is_nan(x) || is_nan(y)) return x + y;
    if (x == y) return y;
    if (x == 0) return hd::copysignf(float_of(1), y);
    const bool grows = (x < y) == (x > 0);
    return float_of(grows ? bits_of(x) + 1 : bits_of(x) - 1);
}

}  // namespace hd
