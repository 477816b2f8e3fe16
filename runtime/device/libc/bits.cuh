// The bits of floating-point values, and integers of 128 bits. Part of the device's C library.
#pragma once

#include "lane/base.cuh"

namespace hd {
namespace libm {
#include "../../math/bits.h"
}  // namespace libm

__extension__ typedef unsigned __int128 Wide;

HD_DEVICE uint64_t bits_of(double x) { return libm::hm_bits(x); }
HD_DEVICE uint32_t bits_of(float x) { return libm::hm_float_bits(x); }
HD_DEVICE double double_of(uint64_t bits) { return libm::hm_double(bits); }
HD_DEVICE float float_of(uint32_t bits) { return libm::hm_float(bits); }

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

HD_DEVICE bool is_nan(double x) { return libm::hm_is_nan(x); }
HD_DEVICE bool is_infinite(double x) { return libm::hm_is_infinite(x); }

// What x86-64 does to a NaN's sign and payload, where a GPU's own instructions may give another NaN.
HD_DEVICE double sign_flipped(double x) { return double_of(bits_of(x) ^ double_sign); }
HD_DEVICE float sign_flipped(float x) { return float_of(bits_of(x) ^ 0x80000000u); }
HD_DEVICE double sign_cleared(double x) { return double_of(bits_of(x) & ~double_sign); }
HD_DEVICE float sign_cleared(float x) { return float_of(bits_of(x) & 0x7fffffffu); }

HD_DEVICE double widened(float x) { return x == x ? x : libm::hm_quiet(libm::hm_widen(x)); }
HD_DEVICE float narrowed(double x) { return libm::hm_narrow(x); }

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
