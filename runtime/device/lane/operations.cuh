// What records gather with: sums and bits of integers, least and greatest numbers, which come out the same in any order. Sums wrap, as
// the filter's do. Where the parts lie: totals.cuh; a host kernel has one part.
#pragma once

#include "lane/base.cuh"
#include "libc/bits.cuh"

namespace hd {

template <class T> struct Plain { using type = T; };  // no type is deduced from it
template <class T> struct Numbers { using type = T; };
template <class T, size_t N> struct Numbers<T[N]> { using type = typename Numbers<T>::type; };

template <class T> HD_DEVICE constexpr bool is_negative_type() { return static_cast<T>(-1) < static_cast<T>(0); }
template <class T> HD_DEVICE constexpr T all_bits() { return static_cast<T>(~0ull); }
template <class T> HD_DEVICE constexpr T greatest_value() {
    return is_negative_type<T>() ? static_cast<T>(~(1ull << (8 * sizeof(T) - 1)) & ~0ull >> (64 - 8 * sizeof(T)))
                                 : all_bits<T>();
}
template <class T> HD_DEVICE constexpr T least_value() {
    return is_negative_type<T>() ? static_cast<T>(1ull << (8 * sizeof(T) - 1)) : static_cast<T>(0);
}

// Operations: what changes nothing, two values in one, and the atomic operations on words that do the same. settles: what
// a value does not change, it does not change later either.
struct Sum {
    static constexpr bool settles = false;
    template <class T> static HD_DEVICE T nothing() { return 0; }
    template <class T> static HD_DEVICE T joined(T a, T b) {
        return static_cast<T>(static_cast<unsigned long long>(a) + static_cast<unsigned long long>(b));
    }
    template <class Word> static HD_DEVICE void atomic(Word *at, Word value) { atomicAdd(at, value); }
};
struct AllBits {
    static constexpr bool settles = true;
    template <class T> static HD_DEVICE T nothing() { return all_bits<T>(); }
    template <class T> static HD_DEVICE T joined(T a, T b) { return static_cast<T>(a & b); }
    template <class Word> static HD_DEVICE void atomic(Word *at, Word value) { atomicAnd(at, value); }
};
struct AnyBits {
    static constexpr bool settles = true;
    template <class T> static HD_DEVICE T nothing() { return 0; }
    template <class T> static HD_DEVICE T joined(T a, T b) { return static_cast<T>(a | b); }
    template <class Word> static HD_DEVICE void atomic(Word *at, Word value) { atomicOr(at, value); }
};
struct OddBits {
    static constexpr bool settles = false;
    template <class T> static HD_DEVICE T nothing() { return 0; }
    template <class T> static HD_DEVICE T joined(T a, T b) { return static_cast<T>(a ^ b); }
    template <class Word> static HD_DEVICE void atomic(Word *at, Word value) { atomicXor(at, value); }
};
struct Least {
    static constexpr bool settles = true;
    template <class T> static HD_DEVICE T nothing() { return greatest_value<T>(); }
    template <class T> static HD_DEVICE T joined(T a, T b) { return b < a ? b : a; }
    template <class Word> static HD_DEVICE void atomic(Word *at, Word value) { atomicMin(at, value); }
};
struct Greatest {
    static constexpr bool settles = true;
    template <class T> static HD_DEVICE T nothing() { return least_value<T>(); }
    template <class T> static HD_DEVICE T joined(T a, T b) { return a < b ? b : a; }
    template <class Word> static HD_DEVICE void atomic(Word *at, Word value) { atomicMax(at, value); }
};

// ---- floating-point numbers
//
// The program compares v < m (or v <= m), so a NaN is never taken, and of equal numbers those that differ are zeros of two
// signs, of which the records' order says which is kept. A part that has seen both says so: it is a NaN, which is no number of
// the program's, and counts as a zero. Where that is what remains, the task is the filter's (runtime/cpu/totals.c).

HD_DEVICE double real_of(uint64_t bits, double) { return double_of(bits); }
HD_DEVICE float real_of(uint64_t bits, float) { return float_of(static_cast<uint32_t>(bits)); }
template <class T> HD_DEVICE T greatest_real() {
    return real_of(sizeof(T) == 8 ? double_infinity : uint64_t{0xff} << 23, T{});
}
template <class T> HD_DEVICE T zeros_of_both_signs() {
    return real_of(sizeof(T) == 8 ? double_infinity | uint64_t{1} << 51 : uint64_t{0x1ff} << 22, T{});
}
template <class T> HD_DEVICE T one_of_equals(T a, T b) { return bits_of(a) == bits_of(b) ? a : zeros_of_both_signs<T>(); }

struct LeastReal {
    static constexpr bool settles = true;
    template <class T> static HD_DEVICE T nothing() { return greatest_real<T>(); }
    template <class T> static HD_DEVICE T taken(T value) { return value == value ? value : nothing<T>(); }
    template <class T> static HD_DEVICE T joined(T a, T b) {
        if (a != a) return b < 0 ? b : a;
        if (b != b) return a < 0 ? a : b;
        return b < a ? b : a < b ? a : one_of_equals(a, b);
    }
};
struct GreatestReal {
    static constexpr bool settles = true;
    template <class T> static HD_DEVICE T nothing() { return -greatest_real<T>(); }
    template <class T> static HD_DEVICE T taken(T value) { return value == value ? value : nothing<T>(); }
    template <class T> static HD_DEVICE T joined(T a, T b) {
        if (a != a) return b > 0 ? b : a;
        if (b != b) return a > 0 ? a : b;
        return b > a ? b : a > b ? a : one_of_equals(a, b);
    }
};

// The same where one thread has all records, in their order: as the program compares.
struct FirstLeast : LeastReal {
    template <class T> static HD_DEVICE T taken(T value) { return value; }
    template <class T> static HD_DEVICE T joined(T a, T b) { return b < a ? b : a; }
};
struct LastLeast : FirstLeast {
    template <class T> static HD_DEVICE T joined(T a, T b) { return b <= a ? b : a; }
};
struct FirstGreatest : GreatestReal {
    template <class T> static HD_DEVICE T taken(T value) { return value; }
    template <class T> static HD_DEVICE T joined(T a, T b) { return b > a ? b : a; }
};
struct LastGreatest : FirstGreatest {
    template <class T> static HD_DEVICE T joined(T a, T b) { return b >= a ? b : a; }
};

template <class T> constexpr bool is_real = false;
template <> constexpr bool is_real<double> = true;
template <> constexpr bool is_real<float> = true;

// ---- members of structs

// `Count` numbers of an object from byte `At` on: `Inner` of them one behind the other, the next as many `Stride` bytes further.
template <class T, uint64_t At, uint64_t Count, uint64_t Inner, uint64_t Stride> struct Part {
    using Number = T;
    static constexpr uint64_t count = Count;
    char *object;

    template <class Object> static HD_DEVICE Part of(Object &object) { return {reinterpret_cast<char *>(&object)}; }
    HD_DEVICE T &operator[](uint64_t i) const {
        return *reinterpret_cast<T *>(object + At + i / Inner * Stride + i % Inner * sizeof(T));
    }
};

// ---- a thread's own

template <class Operation, class T> HD_DEVICE void gather(T &total, typename Plain<T>::type value) {
    total = Operation::template joined<T>(total, value);
}

template <class Operation, class T> HD_DEVICE void set_nothing(T &total) { total = Operation::template nothing<T>(); }
template <class Operation, class T, uint64_t... N> HD_DEVICE void set_nothing(Part<T, N...> totals) {
    for (uint64_t i = 0; i < totals.count; ++i) totals[i] = Operation::template nothing<T>();
}

// By all threads of a block, numbers and arrays; barriers stand around.
template <class Operation, class T> HD_DEVICE void nothing_by_block(T &totals) {
    using Number = typename Numbers<T>::type;
    Number *const at = reinterpret_cast<Number *>(&totals);
    for (uint32_t i = threadIdx.x; i < sizeof totals / sizeof(Number); i += blockDim.x)
        at[i] = Operation::template nothing<Number>();
}
template <class Operation, class T, uint64_t... N> HD_DEVICE void nothing_by_block(Part<T, N...> totals) {
    for (uint64_t i = threadIdx.x; i < totals.count; i += blockDim.x) totals[i] = Operation::template nothing<T>();
}

}  // namespace hd
