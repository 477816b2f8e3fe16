// Functions of one lane: bits, bytes, products, reinterpreted floating point, min and max with CUDA's overloads.
#pragma once

#include <cstdint>

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }

inline unsigned long long __brevll(unsigned long long x) {
    x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
    x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
    return __builtin_bswap64(x);
}
inline unsigned __brev(unsigned x) { return static_cast<unsigned>(__brevll(x) >> 32); }

// Byte i of the result is the byte of y:x that selector nibble i names; its high bit asks for the byte's sign instead.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    const unsigned long long both = static_cast<unsigned long long>(y) << 32 | x;
    unsigned result = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned nibble = selector >> 4 * i & 15;
        unsigned byte = static_cast<unsigned>(both >> 8 * (nibble & 7)) & 0xff;
        if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
        result |= byte << 8 * i;
    }
    return result;
}

inline unsigned __vcmpeq4(unsigned a, unsigned b) {
    unsigned result = 0;
    for (unsigned shift = 0; shift < 32; shift += 8)
        if (((a ^ b) >> shift & 0xff) == 0) result |= 0xffu << shift;
    return result;
}

inline unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline long long __mul64hi(long long a, long long b) { return static_cast<long long>(static_cast<__int128>(a) * b >> 64); }

// Shifts of y:x by up to 31 bits.
inline unsigned __funnelshift_l(unsigned x, unsigned y, unsigned shift) {
    return static_cast<unsigned>(((static_cast<unsigned long long>(y) << 32 | x) << (shift & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned x, unsigned y, unsigned shift) {
    return static_cast<unsigned>((static_cast<unsigned long long>(y) << 32 | x) >> (shift & 31));
}

#define HD_EMU_REINTERPRET(name, from, to)              \
    inline to name(from value) {                        \
        to result;                                      \
        static_assert(sizeof result == sizeof value);   \
        __builtin_memcpy(&result, &value, sizeof result); \
        return result;                                  \
    }
HD_EMU_REINTERPRET(__double_as_longlong, double, long long)
HD_EMU_REINTERPRET(__longlong_as_double, long long, double)
HD_EMU_REINTERPRET(__float_as_int, float, int)
HD_EMU_REINTERPRET(__int_as_float, int, float)
HD_EMU_REINTERPRET(__float_as_uint, float, unsigned)
HD_EMU_REINTERPRET(__uint_as_float, unsigned, float)
#undef HD_EMU_REINTERPRET

// Never contracted to a fused operation. Here nothing is: the module is compiled with -ffp-contract=off.
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }

// Mixed signedness goes by the unsigned type, as in CUDA. A NaN loses against a number.
#define HD_EMU_MIN_MAX(result, a, b)                                        \
    constexpr result min(a x, b y) {                                        \
        const result p = static_cast<result>(x), q = static_cast<result>(y); \
        return q < p ? q : p;                                               \
    }                                                                       \
    constexpr result max(a x, b y) {                                        \
        const result p = static_cast<result>(x), q = static_cast<result>(y); \
        return p < q ? q : p;                                               \
    }
HD_EMU_MIN_MAX(int, int, int)
HD_EMU_MIN_MAX(unsigned, unsigned, unsigned)
HD_EMU_MIN_MAX(unsigned, int, unsigned)
HD_EMU_MIN_MAX(unsigned, unsigned, int)
HD_EMU_MIN_MAX(long, long, long)
HD_EMU_MIN_MAX(unsigned long, unsigned long, unsigned long)
HD_EMU_MIN_MAX(unsigned long, long, unsigned long)
HD_EMU_MIN_MAX(unsigned long, unsigned long, long)
HD_EMU_MIN_MAX(long long, long long, long long)
HD_EMU_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
HD_EMU_MIN_MAX(unsigned long long, long long, unsigned long long)
HD_EMU_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef HD_EMU_MIN_MAX
inline float min(float x, float y) { return __builtin_fminf(x, y); }
inline float max(float x, float y) { return __builtin_fmaxf(x, y); }
inline double min(double x, double y) { return __builtin_fmin(x, y); }
inline double max(double x, double y) { return __builtin_fmax(x, y); }
