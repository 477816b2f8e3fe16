// Whether pairs read back through a combiner's reader, and their size in Hadoop's counters. See audit.h.
#pragma once

#include "steps/reading.cuh"

extern "C" __global__ void hd_audit(const hd::AuditArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) {
        const hd::Pair pair = a.pairs[a.order[i]];
        const char *const key = a.arena + pair.at;
        const uint32_t value = pair.key_length < pair.length ? pair.key_length + 1 : pair.length;  // its offset
        if (pair.length > a.longest_line) atomicExch(a.too_long, 1ull);
        a.bytes[i] = hd::text_size(pair.key_length) + hd::text_size(pair.length - value);
        a.unreadable[i] = !hd::key_reads_back(a, key, pair.key_length) ||
                          !hd::value_reads_back<hd::most_values>(a.value, key + value, pair.length - value,
                                                                 [](uint32_t, uint64_t) {});
    }
}
HD_KERNEL(hd_audit, hd::AuditArgs)
