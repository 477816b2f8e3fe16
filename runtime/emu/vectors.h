// CUDA's vector types, with their alignments, and dim3.
#pragma once

#include "block.h"

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

#define HD_EMU_VECTOR_2(name, type)                            \
    struct alignas(2 * sizeof(type)) name {                    \
        type x, y;                                             \
    };                                                         \
    constexpr name make_##name(type x, type y) { return {x, y}; }
#define HD_EMU_VECTOR_4(name, type)                            \
    struct alignas(sizeof(type) < 4 ? 4 * sizeof(type) : 16) name { \
        type x, y, z, w;                                       \
    };                                                         \
    constexpr name make_##name(type x, type y, type z, type w) { return {x, y, z, w}; }

HD_EMU_VECTOR_2(int2, int)
HD_EMU_VECTOR_2(uint2, unsigned)
HD_EMU_VECTOR_2(float2, float)
HD_EMU_VECTOR_2(double2, double)
HD_EMU_VECTOR_2(longlong2, long long)
HD_EMU_VECTOR_2(ulonglong2, unsigned long long)
HD_EMU_VECTOR_4(char4, signed char)
HD_EMU_VECTOR_4(uchar4, unsigned char)
HD_EMU_VECTOR_4(int4, int)
HD_EMU_VECTOR_4(uint4, unsigned)
HD_EMU_VECTOR_4(float4, float)
#undef HD_EMU_VECTOR_2
#undef HD_EMU_VECTOR_4

constexpr uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
