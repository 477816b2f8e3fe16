// The used slots of areas of fixed size, one behind the other: the paper's aggregation by a scan over threads (5.3).
#pragma once

#include "steps/grid.cuh"

namespace hd {

// Calls found(slot, pair) for the slots of area `a` that hold something of the stream.
template <class Found> HD_DEVICE void visit_area(const AreaSlotsArgs &a, uint64_t area, Found found) {
    const uint64_t first = area * a.slots_per_area;
    for (uint64_t slot = first; slot < first + a.used[area]; ++slot)
        if ((a.pairs[slot].sequence & to_stderr ? 1u : 0u) == a.stream) found(slot, a.pairs[slot]);
}

}  // namespace hd

extern "C" __global__ void hd_area_counts(const hd::AreaSlotsArgs a) {
    uint32_t sequence = 0, item = 0;
    for (uint64_t area = hd::grid_thread(); area < a.count; area += hd::grid_threads()) {
        uint32_t count = 0;
        hd::visit_area(a, area, [&](uint64_t, const hd::Pair &pair) {
            const uint32_t number = pair.sequence & ~hd::to_stderr;
            sequence = number > sequence ? number : sequence;
            item = pair.item > item ? pair.item : item;
            ++count;
        });
        a.counts[area] = count;
    }
    if (sequence) atomicMax(a.largest_sequence, sequence);
    if (item) atomicMax(a.largest_item, item);
}
HD_KERNEL(hd_area_counts, hd::AreaSlotsArgs)

extern "C" __global__ void hd_area_slots(const hd::AreaSlotsArgs a) {
    for (uint64_t area = hd::grid_thread(); area < a.count; area += hd::grid_threads()) {
        uint32_t *to = a.order + a.first[area];
        hd::visit_area(a, area, [&](uint64_t slot, const hd::Pair &) { *to++ = static_cast<uint32_t>(slot); });
    }
}
HD_KERNEL(hd_area_slots, hd::AreaSlotsArgs)
