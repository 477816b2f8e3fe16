// Merge sort of pairs by indirection, as in the paper (5.3): only slot numbers move, keys are compared where they lie.
// A slot's place among two runs is its own, plus the number of smaller ones in the other run, by binary search.
#pragma once

#include "steps/keys.cuh"

namespace hd {

// Negative, zero, positive, as memcmp of the keys, then their lengths.
HD_DEVICE int compare_keys(const Key &a, const Key &b) {
    const uint32_t longest = a.length > b.length ? a.length : b.length;
    for (uint64_t position = 0; position < longest; position += 8) {
        const uint64_t x = a.prefix(static_cast<uint32_t>(position)), y = b.prefix(static_cast<uint32_t>(position));
        if (x != y) return x < y ? -1 : 1;
    }
    return a.length == b.length ? 0 : a.length < b.length ? -1 : 1;
}

// A total order: no two lines have the same item and sequence.
HD_DEVICE bool slot_before(const MergeArgs &a, uint32_t left, uint32_t right) {
    const uint32_t x = a.segment[left], y = a.segment[right];
    if (x != y) return x < y;
    const Pair &p = a.pairs[left], &q = a.pairs[right];
    const int keys = compare_keys({a.arena + p.at, p.key_length}, {a.arena + q.at, q.key_length});
    if (keys != 0) return keys < 0;
    return p.item != q.item ? p.item < q.item : p.sequence < q.sequence;
}

// How many of slots[begin, end), which are sorted, come before `slot`.
HD_DEVICE uint64_t count_before(const MergeArgs &a, const uint32_t *slots, uint64_t begin, uint64_t end, uint32_t slot) {
    const uint64_t first = begin;
    while (begin < end) {
        const uint64_t middle = begin + (end - begin) / 2;
        if (slot_before(a, slots[middle], slot))
            begin = middle + 1;
        else
            end = middle;
    }
    return begin - first;
}

// Where slots[i] of n belongs when neighbouring runs of `width` become one.
HD_DEVICE uint64_t merged_place(const MergeArgs &a, const uint32_t *slots, uint64_t n, uint64_t width, uint64_t i) {
    const uint64_t both = i / (2 * width) * (2 * width), run = i / width * width;
    const uint64_t other = run == both ? both + width : both;
    if (other >= n) return i;
    const uint64_t end = n - other < width ? n : other + width;
    return both + (i - run) + count_before(a, slots, other, end, slots[i]);
}

struct Tile {
    uint32_t slots[2][merge_tile];
};

// By all threads of a block.
HD_DEVICE void sort_tile(const MergeArgs &a, Tile &tile, uint64_t first) {
    const uint32_t n = static_cast<uint32_t>(a.count - first < merge_tile ? a.count - first : merge_tile);
    uint32_t now = 0;
    for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) tile.slots[0][i] = a.from[first + i];
    for (uint32_t width = 1; width < n; width *= 2, now ^= 1) {
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
            tile.slots[now ^ 1][merged_place(a, tile.slots[now], n, width, i)] = tile.slots[now][i];
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) a.to[first + i] = tile.slots[now][i];
    __syncthreads();
}

}  // namespace hd

extern "C" __global__ void hd_sort_tiles(const hd::MergeArgs a) {
    HD_SHARED(hd::Tile, tile);
    const uint64_t step = static_cast<uint64_t>(gridDim.x) * hd::merge_tile;
    for (uint64_t first = static_cast<uint64_t>(blockIdx.x) * hd::merge_tile; first < a.count; first += step)
        hd::sort_tile(a, tile, first);
}
HD_KERNEL(hd_sort_tiles, hd::MergeArgs)

extern "C" __global__ void hd_merge_runs(const hd::MergeArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads())
        a.to[hd::merged_place(a, a.from, a.count, a.width, i)] = a.from[i];
}
HD_KERNEL(hd_merge_runs, hd::MergeArgs)
