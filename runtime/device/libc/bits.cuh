// The bits of floating-point values, and integers of 128 bits. Part of the device's C library.
#pragma once

#include "lane/base.cuh"

namespace hd {

__extension__ typedef unsigned __int128 Wide;

HD_DEVICE uint64_t bits_of(double x) {
#ifdef __CUDACC__
    return static_cast<uint64_t>(__double_as_longlong(x));
#else
    uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
#endif
}

HD_DEVICE uint32_t bits_of(float x) {
#ifdef __CUDACC__
    return __float_as_uint(x);
#else
    uint32_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
#endif
}

HD_DEVICE double double_of(uint64_t bits) {
#ifdef __CUDACC__
    return __longlong_as_double(static_cast<long long>(bits));
#else
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
#endif
}

HD_DEVICE float float_of(uint32_t bits) {
#ifdef __CUDACC__
    return __uint_as_float(bits);
#else
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
#endif
}

// Leading zero bits; 64 for zero.
HD_DEVICE int leading_zeros(uint64_t x) {
#ifdef __CUDACC__
    return __clzll(static_cast<long long>(x));
#else
    return x ? __builtin_clzll(x) : 64;
#endif
}

constexpr uint64_t double_hidden = 1ull << 52;
constexpr uint64_t double_infinity = 0x7ffull << 52;
constexpr uint64_t double_sign = 1ull << 63;

HD_DEVICE bool is_nan(double x) { return (bits_of(x) & ~double_sign) > double_infinity; }
HD_DEVICE bool is_infinite(double x) { return (bits_of(x) & ~double_sign) == double_infinity; }

// What x86-64 does to a NaN's sign and payload, where a GPU's own instructions may give another NaN.
HD_DEVICE double sign_flipped(double x) { return double_of(bits_of(x) ^ double_sign); }
HD_DEVICE float sign_flipped(float x) { return float_of(bits_of(x) ^ 0x80000000u); }
HD_DEVICE double sign_cleared(double x) { return double_of(bits_of(x) & ~double_sign); }
HD_DEVICE float sign_cleared(float x) { return float_of(bits_of(x) & 0x7fffffffu); }

HD_DEVICE double widened(float x) {
    if (x == x) return x;
    const uint64_t bits = bits_of(x);
    return double_of((bits & 0x80000000u) << 32 | 0x7ff8ull << 48 | (bits & 0x7fffffu) << 29);
}

HD_DEVICE float narrowed(double x) {
    if (x == x) return static_cast<float>(x);
    const uint64_t bits = bits_of(x);
    return float_of(static_cast<uint32_t>(bits >> 32 & 0x80000000u) | 0x7fc00000u | (bits >> 29 & 0x7fffffu));
}

// x = mantissa * 2^exponent, x finite and not negative; the mantissa of normal numbers has 53 bits.
struct Parts {
    uint64_t mantissa;
    int exponent;
};

HD_DEVICE Parts parts_of(double x) {
    const uint64_t bits = bits_of(x) & ~double_sign;
    const int biased = static_cast<int>(bits >> 52);
    const uint64_t fraction = bits & (double_hidden - 1);
    return biased ? Parts{fraction | double_hidden, biased - 1075} : Parts{fraction, -1074};
}

}  // namespace hd
