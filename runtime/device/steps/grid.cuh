// What the runtime's own kernels share: striding over elements, and text read in words.
#pragma once

#include "lane/base.cuh"
#include "steps/kernels.h"

namespace hd {

HD_DEVICE uint64_t grid_thread() { return static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
HD_DEVICE uint64_t grid_threads() { return static_cast<uint64_t>(gridDim.x) * blockDim.x; }

HD_DEVICE uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

// Bytes of a staged line with '\n' and '\0' behind it.
HD_DEVICE uint32_t slot_size(uint32_t length) { return (length + 2 + 15) & ~15u; }

HD_DEVICE uint32_t swap_bytes(uint32_t x) {
#ifdef __CUDACC__
    return __byte_perm(x, 0, 0x0123);
#else
    return __builtin_bswap32(x);
#endif
}

// The aligned words around a byte that may lie anywhere: word(k) is bytes [4 k, 4 k + 4) from it. Reads the aligned words
// k and, unless the byte is aligned, k + 1: only words that hold a byte that is wanted may be asked for.
struct Words {
    const uint32_t *base;
    uint32_t shift;  // bits

    explicit HD_DEVICE Words(const char *at)
        : base(reinterpret_cast<const uint32_t *>(reinterpret_cast<uintptr_t>(at) & ~static_cast<uintptr_t>(3))),
          shift(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(at) & 3) * 8) {}

    static HD_DEVICE uint32_t join(uint32_t low, uint32_t high, uint32_t shift) {
        return static_cast<uint32_t>((static_cast<uint64_t>(high) << 32 | low) >> shift);
    }
};

struct alignas(16) Bytes16 {
    uint32_t word[4];
};

// 16 bytes from anywhere, all of them wanted.
HD_DEVICE Bytes16 load_16(const char *at) {
    const Words from(at);
    const uint32_t w0 = from.base[0], w1 = from.base[1], w2 = from.base[2], w3 = from.base[3];
    const uint32_t w4 = from.shift ? from.base[4] : 0;
    return {{Words::join(w0, w1, from.shift), Words::join(w1, w2, from.shift), Words::join(w2, w3, from.shift),
             Words::join(w3, w4, from.shift)}};
}

// The first `size` (0 to 8) bytes at `at`, the first one the highest, zeros behind them.
HD_DEVICE uint64_t load_prefix(const char *at, uint32_t size) {
    if (size == 0) return 0;
    const Words from(at);
    const uint32_t reach = from.shift / 8 + size;  // bytes from the first aligned word on
    const uint32_t w0 = from.base[0], w1 = reach > 4 ? from.base[1] : 0, w2 = reach > 8 ? from.base[2] : 0;
    const uint64_t high = swap_bytes(Words::join(w0, w1, from.shift)), low = swap_bytes(Words::join(w1, w2, from.shift));
    return (high << 32 | low) & ~0ull << (8 - size) * 8;
}

}  // namespace hd
