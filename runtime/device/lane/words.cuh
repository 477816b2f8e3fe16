// Eight bytes at a time: which of them are a given one. Flags are the top bits of the bytes of a word, lowest address first.
#pragma once

#include "lane/base.cuh"

namespace hd {

constexpr uint64_t every_byte = 0x0101010101010101ull, top_bits = every_byte << 7;

// Flags of the bytes of `word` that are `byte`.
HD_DEVICE uint64_t bytes_equal(uint64_t word, uint32_t byte) {
    const uint64_t x = word ^ every_byte * byte;
    return ~(((x & ~top_bits) + ~top_bits) | x) & top_bits;
}

// Flags of the first `n` bytes, 1 to 8.
HD_DEVICE uint64_t first_bytes(uint64_t n) { return top_bits >> (8 - n) * 8; }

HD_DEVICE uint32_t count_bits(uint64_t x) {
#ifdef __CUDACC__
    return static_cast<uint32_t>(__popcll(static_cast<long long>(x)));
#else
    return static_cast<uint32_t>(__builtin_popcountll(x));
#endif
}

// The last byte that has a flag.
HD_DEVICE uint32_t highest_byte(uint64_t flags) {
#ifdef __CUDACC__
    return (63 - static_cast<uint32_t>(__clzll(static_cast<long long>(flags)))) / 8;
#else
    return (63 - static_cast<uint32_t>(__builtin_clzll(flags))) / 8;
#endif
}

// The first byte that has a flag.
HD_DEVICE uint32_t lowest_byte(uint64_t flags) { return count_bits((flags & (0 - flags)) - 1) / 8; }

}  // namespace hd
