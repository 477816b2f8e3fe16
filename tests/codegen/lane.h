// What kernels need of CUDA, for a machine that has one lane. Included before the generated text. Private storage is
// filled with a pattern, so that two of them show whether anything depends on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#define __device__
#define __global__
#define __noinline__  // empty: library headers write __attribute__((__noinline__))
#define __launch_bounds__(...)
#define HD_FILL(variable) std::memset(static_cast<void *>(&(variable)), hd_pattern, sizeof(variable))

inline int hd_pattern = 0;

struct Dimension {
    unsigned x = 0, y = 0, z = 0;
};
inline Dimension threadIdx, blockIdx, blockDim{1, 1, 1}, gridDim{1, 1, 1};
inline void __syncthreads() {}
inline void __syncwarp(unsigned = ~0u) {}
inline void __threadfence_block() {}
inline void __threadfence() {}

[[noreturn]] void hd_emu_exit_lane();

template <class T, class U> T atomicAdd(T *word, U value) {
    const T old = *word;
    *word = static_cast<T>(old + value);
    return old;
}
template <class T> T atomicExch(T *word, T value) {
    const T old = *word;
    *word = value;
    return old;
}
template <class T> T atomicCAS(T *word, T expected, T value) {
    const T old = *word;
    if (old == expected) *word = value;
    return old;
}
