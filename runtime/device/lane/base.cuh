// Macros that let one text be CUDA (nvcc), the emulator's C++ (runtime/emu/cuda_emu.h is included before it) and plain
// host C++ (unit tests of the device library). No declarations.
#pragma once

#include <cstddef>
#include <cstdint>

static_assert(static_cast<char>(-1) < 0, "char is signed, as in the CPU filter");
static_assert(sizeof(long) == 8 && sizeof(void *) == 8 && sizeof(int) == 4, "LP64, as in the CPU filter");

#ifndef HD_DEVICE  // a small function of a kernel
#ifdef __CUDACC__
#define HD_DEVICE __device__ __forceinline__
#else
#define HD_DEVICE inline
#endif
#endif

#ifndef HD_NOINLINE  // a large one: one copy in a kernel, however often it is called
#ifdef __CUDACC__
#define HD_NOINLINE inline __device__ __noinline__
#else
#define HD_NOINLINE inline __attribute__((noinline))
#endif
#endif

#ifndef HD_UNROLL  // before a loop whose arrays are to be registers
#ifdef __CUDACC__
#define HD_UNROLL _Pragma("unroll")
#else
#define HD_UNROLL
#endif
#endif

#ifndef HD_TABLE  // a constant array at namespace scope
#ifdef __CUDACC__
#define HD_TABLE static __device__ const
#else
#define HD_TABLE static const
#endif
#endif

#ifndef HD_WORD_OUTPUT  // 1: a short line is put together in the thread and stored by words; 0: byte by byte
#define HD_WORD_OUTPUT 1
#endif

#ifndef HD_WORD_STRINGS  // 1: strcpy and strcmp go by words where that can be; 0: byte by byte
#define HD_WORD_STRINGS 0
#endif

#ifndef HD_SHORT_DECIMALS  // 1: strtod looks for a short decimal first, with code of its own wherever it is called
#define HD_SHORT_DECIMALS 0
#endif

#ifndef HD_FILL  // fills private storage with the launch's pattern: reading what was never written shows up
#define HD_FILL(variable)
#endif

#ifndef HD_KERNEL  // after a kernel's definition: its name and parameter types, for the emulator's launch
#define HD_KERNEL(name, ...)
#endif

#ifndef HD_SHARED
#ifdef __CUDACC__
#define HD_SHARED(type, name) __shared__ type name
#else
#define HD_SHARED(type, name) static type name
#endif
#endif

#ifndef HD_PARAMETER  // before the type of a kernel's struct parameter: it is read where it lies, also through references
#ifdef __CUDACC__
#define HD_PARAMETER __grid_constant__
#else
#define HD_PARAMETER
#endif
#endif
