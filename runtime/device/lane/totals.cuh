// What records gather (operations.cuh), by many threads.
//
// A task has all of it once in device memory (Task::totals), as it was behind the launch before; a block has its own part of
// what is small, in shared memory, and a thread its own of single numbers. A part begins as nothing: what changes nothing.
#pragma once

#include "lane/operations.cuh"

namespace hd {

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

// Of floating-point numbers: there is no atomic operation of them that does this.
template <class Operation, class T> HD_DEVICE void gather_real(T *at, T value) {
    using Word = typename AtomicWord<Operation, T, false, sizeof(T)>::type;
    Word *const word = reinterpret_cast<Word *>(at);
    Word seen = *static_cast<volatile Word *>(word);
    for (;;) {
        const Word now = bits_of(Operation::joined(real_of(seen, T{}), value));
        if (now == seen) return;
        const Word found = atomicCAS(word, seen, now);
        if (found == seen) return;
        seen = found;
    }
}

// What several threads have, in shared or device memory.
template <class Operation, class T> HD_DEVICE void gather_atomically(T &total, typename Plain<T>::type value) {
    if constexpr (sizeof(T) < 4) {
        gather_narrow<Operation>(&total, value);
    } else if constexpr (is_real<T>) {
        gather_real<Operation>(&total, value);
    } else {
        using Word = typename AtomicWord<Operation, T, is_negative_type<T>(), sizeof(T)>::type;
        if constexpr (Operation::settles) {  // nearly all values change no least or greatest one
            const T seen = *static_cast<volatile T *>(&total);
            if (Operation::template joined<T>(seen, value) == seen) return;
        }
        Operation::template atomic<Word>(reinterpret_cast<Word *>(&total), static_cast<Word>(value));
    }
}

template <class Operation, class T, uint64_t... N>
HD_DEVICE void gather_atomically(Part<T, N...> totals, Part<T, N...> parts) {
    for (uint64_t i = 0; i < totals.count; ++i) gather_atomically<Operation>(totals[i], parts[i]);
}

// By all threads of a block; barriers stand around.
template <class Operation, class T> HD_DEVICE void gather_by_block(T &totals, const T &parts) {
    using Number = typename Numbers<T>::type;
    Number *const to = reinterpret_cast<Number *>(&totals);
    const Number *const from = reinterpret_cast<const Number *>(&parts);
    for (uint32_t i = threadIdx.x; i < sizeof totals / sizeof(Number); i += blockDim.x)
        if (from[i] != Operation::template nothing<Number>()) gather_atomically<Operation>(to[i], from[i]);
}
template <class Operation, class T, uint64_t... N> HD_DEVICE void gather_by_block(Part<T, N...> totals, Part<T, N...> parts) {
    for (uint64_t i = threadIdx.x; i < totals.count; i += blockDim.x)
        if (parts[i] != Operation::template nothing<T>()) gather_atomically<Operation>(totals[i], parts[i]);
}

}  // namespace hd
