// Hadoop's HashPartitioner of a Text key, whose hash is WritableComparator.hashBytes. See kernels.h.
#pragma once

#include "steps/keys.cuh"

namespace hd {

// Java's int arithmetic: signed bytes, wrapping products.
HD_DEVICE uint32_t partition_of(const Key &key, uint32_t reducers) {
    if (reducers <= 1) return 0;
    uint32_t hash = 1;
    for (uint32_t i = 0; i < key.length; ++i) hash = 31 * hash + static_cast<uint32_t>(static_cast<int32_t>(key.bytes[i]));
    return (hash & 0x7fffffffu) % reducers;
}

}  // namespace hd

extern "C" __global__ void hd_partitions(const hd::PartitionsArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads())
        a.segment[a.order[i]] = hd::partition_of(hd::key_of(a, i), a.reducers);
}
HD_KERNEL(hd_partitions, hd::PartitionsArgs)
