// What records gather with: sums, bits, least and greatest values of integers, which come out the same in any order. Sums wrap, as
// the filter's do. Where the parts lie: totals.cuh; a host kernel has one part.
#pragma once

#include "lane/base.cuh"

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

// A thread's own.
template <class Operation, class T> HD_DEVICE void gather(T &total, typename Plain<T>::type value) {
    total = Operation::template joined<T>(total, value);
}

template <class Operation, class T> HD_DEVICE void set_nothing(T &total) { total = Operation::template nothing<T>(); }

// By all threads of a block, numbers and arrays; barriers stand around.
template <class Operation, class T> HD_DEVICE void nothing_by_block(T &totals) {
    using Number = typename Numbers<T>::type;
    Number *const at = reinterpret_cast<Number *>(&totals);
    for (uint32_t i = threadIdx.x; i < sizeof totals / sizeof(Number); i += blockDim.x)
        at[i] = Operation::template nothing<Number>();
}

}  // namespace hd
