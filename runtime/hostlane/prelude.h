// A map kernel's text as a program for one thread (a host kernel): CUDA's words for g++. Included before the text.
//
//   g++ -std=c++17 -O3 -include prelude.h -I runtime/hostlane -I runtime/device text.cpp
//
// The text is the same that nvcc gets, with the combiner as a struct `Fold` before it, where it is folded at once
// (compiler/emit/host.py), and main() behind it (main.h). Headers of this folder stand before those of runtime/device of the same
// name: the lane reads records where they lie in the input's buffer, and functions of string.h are the C library's own.
#pragma once

#include <cstddef>
#include <cstdint>

#define __global__
#define __device__
#define __grid_constant__
#define __launch_bounds__(...)
#define HD_SHORT_DECIMALS 1

struct HdOne {
    unsigned x, y, z;
};
constexpr HdOne threadIdx = {0, 0, 0}, blockDim = {1, 1, 1};
inline void __syncthreads() {}
