// Sort keys of pairs, and what neighbours in an order have in common: ties, runs, combine items. See kernels.h.
#pragma once

#include "steps/key.cuh"

namespace hd {

template <class Args> HD_DEVICE Key key_of(const Args &a, uint64_t i) {
    const Pair &pair = a.pairs[a.order[i]];
    return {a.arena + pair.at, pair.key_length};
}

// Are the pairs i - 1 and i equal as far as this level looks, and longer than that?
HD_DEVICE bool ties_with_previous(const TieFlagsArgs &a, uint64_t i) {
    if (i == 0 || i >= a.count || a.segment[a.order[i - 1]] != a.segment[a.order[i]]) return false;
    const Key left = key_of(a, i - 1), right = key_of(a, i);
    return left.rest(a.position) > 8 && right.rest(a.position) > 8 && left.prefix(a.position) == right.prefix(a.position);
}

HD_DEVICE bool starts_run(const RunFlagsArgs &a, uint64_t i) { return i == 0 || !same_key(key_of(a, i - 1), key_of(a, i)); }

// Does a run start at one of [from, to)?
HD_DEVICE bool run_within(const RunFlagsArgs &a, uint64_t from, uint64_t to) {
    while (to > from)
        if (starts_run(a, --to)) return true;
    return false;
}

HD_DEVICE bool starts_chunk(const RunFlagsArgs &a, uint64_t i) {
    const uint64_t window = i / chunk_pairs * chunk_pairs;
    if (starts_run(a, i)) return !run_within(a, window, i);
    return a.regroup && i == window && window + chunk_pairs <= a.count && !run_within(a, i, window + chunk_pairs);
}

}  // namespace hd

extern "C" __global__ void hd_pair_flags(const hd::PairFlagsArgs a) {
    uint32_t sequence = 0, item = 0;
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) {
        const hd::Pair &pair = a.pairs[i];
        const bool wanted = pair.length != hd::no_pair && (pair.sequence & hd::to_stderr ? 1u : 0u) == a.stream;
        a.flags[i] = wanted;
        if (!wanted) continue;
        const uint32_t number = pair.sequence & ~hd::to_stderr;
        sequence = number > sequence ? number : sequence;
        item = pair.item > item ? pair.item : item;
    }
    if (a.largest_sequence && sequence) atomicMax(a.largest_sequence, sequence);
    if (a.largest_item && item) atomicMax(a.largest_item, item);
}
HD_KERNEL(hd_pair_flags, hd::PairFlagsArgs)

extern "C" __global__ void hd_order_keys(const hd::KeysArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) {
        const hd::Pair &pair = a.pairs[a.order[i]];
        a.keys[i] = static_cast<uint64_t>(pair.item) << 32 | (pair.sequence & ~hd::to_stderr);
    }
}
HD_KERNEL(hd_order_keys, hd::KeysArgs)

extern "C" __global__ void hd_prefix_keys(const hd::KeysArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads())
        a.keys[i] = hd::key_of(a, i).prefix(a.position);
}
HD_KERNEL(hd_prefix_keys, hd::KeysArgs)

extern "C" __global__ void hd_clamp_keys(const hd::KeysArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads())
        a.keys[i] = hd::smaller(hd::key_of(a, i).rest(a.position), 9);
}
HD_KERNEL(hd_clamp_keys, hd::KeysArgs)

extern "C" __global__ void hd_segment_keys(const hd::KeysArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) a.keys[i] = a.segment[a.order[i]];
}
HD_KERNEL(hd_segment_keys, hd::KeysArgs)

extern "C" __global__ void hd_tie_flags(const hd::TieFlagsArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) {
        const bool before = hd::ties_with_previous(a, i), behind = hd::ties_with_previous(a, i + 1);
        a.member[i] = before || behind;
        a.start[i] = behind && !before;
    }
}
HD_KERNEL(hd_tie_flags, hd::TieFlagsArgs)

extern "C" __global__ void hd_ties(const hd::TiesArgs a) {
    for (uint64_t j = hd::grid_thread(); j < a.count; j += hd::grid_threads()) {
        const uint32_t i = a.chosen[j], slot = a.order[i];
        a.tied_order[j] = slot;
        a.tied_place[j] = a.place ? a.place[i] : i;
        a.segment[slot] = static_cast<uint32_t>(a.rank[i] + a.start[i] - 1);
    }
}
HD_KERNEL(hd_ties, hd::TiesArgs)

extern "C" __global__ void hd_run_flags(const hd::RunFlagsArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) a.flags[i] = hd::starts_run(a, i);
}
HD_KERNEL(hd_run_flags, hd::RunFlagsArgs)

extern "C" __global__ void hd_chunk_flags(const hd::RunFlagsArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) a.flags[i] = hd::starts_chunk(a, i);
}
HD_KERNEL(hd_chunk_flags, hd::RunFlagsArgs)
