// Integer operations whose C result is undefined or x86's: shifts by any count, floating point to integers, division.
// Wrapping addition and multiplication are the compiler's business (through unsigned types).
#pragma once

#include "steps/abi.h"
#include "libc/bits.cuh"

namespace hd {

// x86 masks the count to the operand's width. The operand's type is C's after promotion.
#define HD_SHIFTS(type, bits)                                                              \
    HD_DEVICE type shl(type a, long n) {                                                   \
        return static_cast<type>(static_cast<unsigned long long>(a) << (n & (bits - 1)));  \
    }                                                                                      \
    HD_DEVICE type shr(type a, long n) { return static_cast<type>(a >> (n & (bits - 1))); }
HD_SHIFTS(int, 32)
HD_SHIFTS(unsigned, 32)
HD_SHIFTS(long, 64)
HD_SHIFTS(unsigned long, 64)
HD_SHIFTS(long long, 64)
HD_SHIFTS(unsigned long long, 64)
#undef HD_SHIFTS

constexpr double two_to_31 = 2147483648.0;
constexpr double two_to_63 = 9223372036854775808.0;

// cvttsd2si: what does not fit, NaN too, gives the smallest integer. Floats come here widened, which is exact.
HD_DEVICE int to_i32(double x) { return x > -two_to_31 - 1 && x < two_to_31 ? static_cast<int>(x) : INT32_MIN; }
HD_DEVICE long to_i64(double x) { return x >= -two_to_63 && x < two_to_63 ? static_cast<long>(x) : INT64_MIN; }
HD_DEVICE unsigned to_u32(double x) { return static_cast<unsigned>(to_i64(x)); }

// gcc's sequence: one conversion below 2^63, else that of x - 2^63 with the top bit turned.
HD_DEVICE unsigned long to_u64(double x) {
    if (!(x >= two_to_63)) return static_cast<unsigned long>(to_i64(x));
    return static_cast<unsigned long>(to_i64(x - two_to_63)) ^ (1ul << 63);
}

// To char and short gcc goes through int.
HD_DEVICE signed char to_i8(double x) { return static_cast<signed char>(to_i32(x)); }
HD_DEVICE unsigned char to_u8(double x) { return static_cast<unsigned char>(to_i32(x)); }
HD_DEVICE short to_i16(double x) { return static_cast<short>(to_i32(x)); }
HD_DEVICE unsigned short to_u16(double x) { return static_cast<unsigned short>(to_i32(x)); }

// Whether x86's idiv traps: a zero divisor, or a quotient that does not fit.
template <class T> HD_DEVICE bool division_traps(T a, T b) {
    constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0);
    constexpr T lowest = static_cast<T>(1ull << (sizeof(T) * 8 - 1));
    return b == 0 || (is_signed && b == static_cast<T>(-1) && a == lowest);
}

// T: int, unsigned, long, unsigned long and the long longs. A division that traps ends the lane.
template <class Lane, class T> HD_DEVICE T divide(Lane &lane, T a, T b, uint32_t line) {
    if (division_traps(a, b)) lane.fail(Status::division, line);
    return a / b;
}

template <class Lane, class T> HD_DEVICE T remainder(Lane &lane, T a, T b, uint32_t line) {
    if (division_traps(a, b)) lane.fail(Status::division, line);
    return a % b;
}

HD_DEVICE int abs(int x) { return x < 0 ? static_cast<int>(0u - static_cast<unsigned>(x)) : x; }
HD_DEVICE long labs(long x) { return x < 0 ? static_cast<long>(0ul - static_cast<unsigned long>(x)) : x; }
HD_DEVICE long long llabs(long long x) { return labs(static_cast<long>(x)); }

// gcc's __builtin_popcount, ctz and clz, and their l forms; the last two of x != 0.
HD_DEVICE int popcountl(unsigned long x) {
#ifdef __CUDACC__
    return __popcll(x);
#else
    return __builtin_popcountl(x);
#endif
}
HD_DEVICE int popcount(unsigned x) { return popcountl(x); }
HD_DEVICE int ctzl(unsigned long x) { return popcountl((x & (0 - x)) - 1); }
HD_DEVICE int ctz(unsigned x) { return ctzl(x); }
HD_DEVICE int clzl(unsigned long x) { return leading_zeros(x); }
HD_DEVICE int clz(unsigned x) { return leading_zeros(x) - 32; }
HD_DEVICE int ffs(int x) { return x ? ctz(static_cast<unsigned>(x)) + 1 : 0; }

// glibc's: three steps of one linear congruential generator, of which the upper bits make 31.
HD_DEVICE int rand_r(unsigned *seed) {
    unsigned next = *seed, result = 0;
    const unsigned bits[] = {11, 10, 10};
    for (unsigned count : bits) {
        next = next * 1103515245u + 12345u;
        result = result << count ^ (next >> 16 & ((1u << count) - 1));
    }
    *seed = next;
    return static_cast<int>(result);
}

HD_DEVICE uint16_t bswap16(uint16_t x) { return static_cast<uint16_t>(x << 8 | x >> 8); }
HD_DEVICE uint32_t bswap32(uint32_t x) {
    return x << 24 | (x & 0xff00) << 8 | (x >> 8 & 0xff00) | x >> 24;
}
HD_DEVICE uint64_t bswap64(uint64_t x) {
    return static_cast<uint64_t>(bswap32(static_cast<uint32_t>(x))) << 32 | bswap32(static_cast<uint32_t>(x >> 32));
}
HD_DEVICE uint16_t htons(uint16_t x) { return static_cast<uint16_t>(x << 8 | x >> 8); }
HD_DEVICE uint16_t ntohs(uint16_t x) { return htons(x); }
HD_DEVICE uint32_t htonl(uint32_t x) { return bswap32(x); }
HD_DEVICE uint32_t ntohl(uint32_t x) { return bswap32(x); }

}  // namespace hd
