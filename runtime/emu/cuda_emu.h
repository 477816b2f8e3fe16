// The emulated device: lets g++ compile CUDA kernel text into a module that runs on the CPU. Included before the text:
//
//   g++ -std=c++17 -x c++ -O1 -fwrapv -fno-strict-aliasing -ffp-contract=off -fPIC -shared -include cuda_emu.h file.cu
//
// Every lane is a fiber with a stack of its own; lanes never run in step. Host side: launch.h. HD_KERNEL exports a kernel.
//
// What it shows: results that depend on the order of lanes or blocks (three orders, seeds), missing barriers, wrong masks,
// collectives and barriers that not all lanes reach, spins that never end, atomic operations on private memory, use of shared
// or private memory before it was written (patterns), too little stack, memory that is not there; with -fsanitize=address every
// access outside of objects.
// What it cannot show: coalescing and speed, memory order (all is sequentially consistent), register and occupancy limits,
// misaligned plain accesses (except with -fsanitize=alignment), contraction to FMA, CUDA's libm, blocks at the same time.
// It is a way to test. It is no GPU and must never be reported as one.
//
// Provided is a closed set of CUDA; everything else does not compile. Its own system headers are visible to the text.
#pragma once

#define HD_EMULATED 1

#include "launch.h"

#include "block.h"
#include "warp.h"
#include "atomics.h"
#include "memory.h"
#include "intrinsics.h"
#include "vectors.h"
#include "run.h"

#define threadIdx (::hd_emu::current().thread)
#define blockIdx (::hd_emu::current().block->index)
#define blockDim (::hd_emu::current().block->dim)
#define gridDim (::hd_emu::current().block->grid)

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__  // empty: library headers write __attribute__((__noinline__))
