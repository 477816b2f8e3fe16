// Pairs in order -> contiguous text; and plain moves by index. See kernels.h.
#pragma once

#include "steps/stage.cuh"

extern "C" __global__ void hd_output_sizes(const hd::OutputArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) {
        const hd::Pair &pair = a.pairs[a.order[i]];
        a.sizes[i] = pair.length + (a.raw || hd::has_tab(pair) ? 1 : 2);
    }
}
HD_KERNEL(hd_output_sizes, hd::OutputArgs)

extern "C" __global__ void hd_output(const hd::OutputArgs a) {
    const uint64_t lanes = static_cast<uint64_t>(a.count) * hd::stage_lanes;
    for (uint64_t i = hd::grid_thread(); i < lanes; i += hd::grid_threads()) {
        const uint64_t line = i / hd::stage_lanes;
        const hd::Pair pair = a.pairs[a.order[line]];
        const hd::Staged<false> staged = {a.arena + pair.at, pair.length, a.raw || hd::has_tab(pair) ? '\0' : '\t'};
        char *to = a.text + a.offset[line];
        const uint32_t bytes = static_cast<uint32_t>(a.offset[line + 1] - a.offset[line]);
        for (uint32_t at = static_cast<uint32_t>(i % hd::stage_lanes); at < bytes; at += hd::stage_lanes)
            to[at] = staged.byte(at);
    }
}
HD_KERNEL(hd_output, hd::OutputArgs)

extern "C" __global__ void hd_iota(const hd::MoveArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) a.to[i] = static_cast<uint32_t>(i);
}
HD_KERNEL(hd_iota, hd::MoveArgs)

extern "C" __global__ void hd_gather_u32(const hd::MoveArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) a.to[i] = a.from[a.index[i]];
}
HD_KERNEL(hd_gather_u32, hd::MoveArgs)

extern "C" __global__ void hd_scatter_u32(const hd::MoveArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) a.to[a.index[i]] = a.from[i];
}
HD_KERNEL(hd_scatter_u32, hd::MoveArgs)

extern "C" __global__ void hd_gather_u64(const hd::GatherU64Args a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) a.to[i] = a.from[a.index[i]];
}
HD_KERNEL(hd_gather_u64, hd::GatherU64Args)

extern "C" __global__ void hd_gather_pairs(const hd::GatherPairsArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) a.to[i] = a.pairs[a.index[i]];
}
HD_KERNEL(hd_gather_pairs, hd::GatherPairsArgs)
