// How many lines end in a text.
#pragma once

#include "libc/memory.cuh"

namespace hd {

// The '\n's in [from, end).
HD_DEVICE uint64_t count_lines(const char *from, const char *end) {
    uint64_t lines = 0;
#ifdef __SSE2__
    typedef char Bytes __attribute__((vector_size(16)));
    typedef long long Sums __attribute__((vector_size(16)));
    typedef char Anywhere __attribute__((vector_size(16), aligned(1), may_alias));
    constexpr int most = 255;  // vectors until a byte's count may overflow
    const Bytes wanted = Bytes{} + '\n';
    while (end - from >= 16) {
        Bytes counts = {};
        for (int i = 0; i < most && end - from >= 16; ++i, from += 16)
            counts -= *reinterpret_cast<const Anywhere *>(from) == wanted;
        const Sums sums = reinterpret_cast<Sums>(__builtin_ia32_psadbw128(counts, Bytes{}));
        lines += static_cast<uint64_t>(sums[0] + sums[1]);
    }
#endif
    for (; from != end; ++from) lines += *from == '\n';
    return lines;
}

}  // namespace hd
