// What records gather: sums, bits, least and greatest values of integers, which come out the same in any order.
//
// A task has all of it once in device memory (Task::totals), as it was behind the launch before; a block has its own part of
// what is small, in shared memory, and a thread its own of single numbers. A part begins as nothing: what changes nothing.
// Sums wrap, as the filter's do.
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

// The word that atomic operations have for a type: its signedness counts for least and greatest values only, and there is no
// signed sum of 64 bits.
template <class Operation, class T, bool Signed, size_t Bytes> struct AtomicWord { using type = unsigned; };
template <class Operation, class T, bool Signed> struct AtomicWord<Operation, T, Signed, 8> { using type = unsigned long long; };
template <class T> struct AtomicWord<Least, T, true, 4> { using type = int; };
template <class T> struct AtomicWord<Least, T, true, 8> { using type = long long; };
template <class T> struct AtomicWord<Greatest, T, true, 4> { using type = int; };
template <class T> struct AtomicWord<Greatest, T, true, 8> { using type = long long; };

// Of one and two bytes: within the aligned word that holds them.
template <class Operation, class T> HD_DEVICE void gather_narrow(T *at, T value) {
    const uint64_t address = reinterpret_cast<uint64_t>(at);
    unsigned *const word = reinterpret_cast<unsigned *>(address & ~uint64_t{3});
    const unsigned shift = static_cast<unsigned>(address & 3) * 8;
    const unsigned mask = ((1u << 8 * sizeof(T)) - 1) << shift;
    unsigned seen = *static_cast<volatile unsigned *>(word);
    for (;;) {
        const T old = static_cast<T>(seen >> shift), now = Operation::template joined<T>(old, value);
        if (now == old) return;
        const unsigned found = atomicCAS(word, seen, (seen & ~mask) | (static_cast<unsigned>(now) << shift & mask));
        if (found == seen) return;
        seen = found;
    }
}

// What several threads have, in shared or device memory.
template <class Operation, class T> HD_DEVICE void gather_atomically(T &total, typename Plain<T>::type value) {
    if constexpr (sizeof(T) < 4) {
        gather_narrow<Operation>(&total, value);
    } else {
        using Word = typename AtomicWord<Operation, T, is_negative_type<T>(), sizeof(T)>::type;
        if constexpr (Operation::settles) {  // nearly all values change no least or greatest one
            const T seen = *static_cast<volatile T *>(&total);
            if (Operation::template joined<T>(seen, value) == seen) return;
        }
        Operation::template atomic<Word>(reinterpret_cast<Word *>(&total), static_cast<Word>(value));
    }
}

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

template <class Operation, class T> HD_DEVICE void gather_by_block(T &totals, const T &parts) {
    using Number = typename Numbers<T>::type;
    Number *const to = reinterpret_cast<Number *>(&totals);
    const Number *const from = reinterpret_cast<const Number *>(&parts);
    for (uint32_t i = threadIdx.x; i < sizeof totals / sizeof(Number); i += blockDim.x)
        if (from[i] != Operation::template nothing<Number>()) gather_atomically<Operation>(to[i], from[i]);
}

}  // namespace hd
