// A pair's key, compared and read by words.
#pragma once

#include "steps/grid.cuh"

namespace hd {

struct Key {
    const char *bytes;
    uint32_t length;

    HD_DEVICE uint32_t rest(uint32_t position) const { return position < length ? length - position : 0; }
    HD_DEVICE uint64_t prefix(uint32_t position) const { return load_prefix(bytes + position, smaller(rest(position), 8)); }
};

HD_DEVICE bool same_key(const Key &a, const Key &b) {
    if (a.length != b.length) return false;
    for (uint32_t position = 0; position < a.length; position += 8)
        if (a.prefix(position) != b.prefix(position)) return false;
    return true;
}

// For hashes, of eight bytes at a time.
HD_DEVICE uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
    return x ^ x >> 29;
}

}  // namespace hd
