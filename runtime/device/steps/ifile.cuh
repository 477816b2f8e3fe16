// Pairs in order -> records of Hadoop's IFile (IFile.java: vint key length, vint value length, key, value; both Texts, a
// vint and their bytes), and where partitions begin. See kernels.h.
#pragma once

#include "steps/audit.cuh"
#include "steps/merge_sort.cuh"
#include "steps/stage.cuh"

namespace hd {

// WritableUtils.writeVInt of a number that is not negative.
HD_DEVICE char *put_vint(char *to, uint32_t n) {
    if (n <= 127) {
        *to = static_cast<char>(n);
        return to + 1;
    }
    const uint32_t bytes = vint_size(n) - 1;
    *to++ = static_cast<char>(-112 - static_cast<int>(bytes));
    for (uint32_t i = bytes; i-- > 0;) *to++ = static_cast<char>(n >> i * 8);
    return to;
}

struct IFileRecord {
    const char *key, *value;
    uint32_t key_length, value_length;

    HD_DEVICE IFileRecord(const char *arena, const Pair &pair)
        : key(arena + pair.at), value(key + pair.key_length + 1), key_length(pair.key_length),
          value_length(has_tab(pair) ? pair.length - pair.key_length - 1 : 0) {}

    HD_DEVICE bool is_short() const { return key_length < 127 && value_length < 127; }

    HD_DEVICE uint32_t size() const {
        const uint32_t first = text_size(key_length), second = text_size(value_length);
        return vint_size(first) + vint_size(second) + first + second;
    }

    // Of a short one: every length is one byte.
    HD_DEVICE char byte(uint32_t i) const {
        if (i < 3) return static_cast<char>(i == 1 ? value_length + 1 : key_length + (i == 0));
        if (i < 3 + key_length) return key[i - 3];
        return i == 3 + key_length ? static_cast<char>(value_length) : value[i - key_length - 4];
    }

    // Of any, by one of several lanes.
    HD_DEVICE void copy(char *to, uint32_t lane) const {
        const uint32_t first = text_size(key_length), second = text_size(value_length);
        char *const key_at = to + vint_size(first) + vint_size(second) + vint_size(key_length);
        char *const value_at = key_at + key_length + vint_size(value_length);
        if (lane == 0) {
            put_vint(put_vint(put_vint(to, first), second), key_length);
            put_vint(key_at + key_length, value_length);
        }
        for (uint32_t i = lane; i < key_length; i += stage_lanes) key_at[i] = key[i];
        for (uint32_t i = lane; i < value_length; i += stage_lanes) value_at[i] = value[i];
    }
};

}  // namespace hd

extern "C" __global__ void hd_ifile_sizes(const hd::OutputArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads())
        a.sizes[i] = hd::IFileRecord(a.arena, a.pairs[a.order[i]]).size();
}
HD_KERNEL(hd_ifile_sizes, hd::OutputArgs)

extern "C" __global__ void hd_ifile(const hd::OutputArgs a) {
    const uint64_t lanes = static_cast<uint64_t>(a.count) * hd::stage_lanes;
    for (uint64_t i = hd::grid_thread(); i < lanes; i += hd::grid_threads()) {
        const uint64_t record = i / hd::stage_lanes;
        const uint32_t lane = static_cast<uint32_t>(i % hd::stage_lanes);
        const hd::IFileRecord from(a.arena, a.pairs[a.order[record]]);
        char *const to = a.text + a.offset[record];
        if (!from.is_short()) {
            from.copy(to, lane);
            continue;
        }
        const uint32_t bytes = static_cast<uint32_t>(a.offset[record + 1] - a.offset[record]);
        for (uint32_t at = lane; at < bytes; at += hd::stage_lanes) to[at] = from.byte(at);
    }
}
HD_KERNEL(hd_ifile, hd::OutputArgs)

extern "C" __global__ void hd_partition_starts(const hd::PartitionStartsArgs a) {
    for (uint64_t i = hd::grid_thread(); i <= a.count; i += hd::grid_threads()) {
        const uint32_t end = i < a.count ? a.partitions[i] + 1 : a.reducers + 1;
        for (uint32_t p = i > 0 ? a.partitions[i - 1] + 1 : 0; p < end; ++p) {
            a.first[p] = static_cast<uint32_t>(i);
            a.start[p] = a.offset[i];
        }
    }
}
HD_KERNEL(hd_partition_starts, hd::PartitionStartsArgs)

extern "C" __global__ void hd_disorder(const hd::DisorderArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) {
        if (i == 0) continue;
        const uint32_t before = a.partitions[i - 1], now = a.partitions[i];
        if (now < before || (now == before && hd::compare_keys(hd::key_of(a, i), hd::key_of(a, i - 1)) < 0))
            atomicMin(a.first, static_cast<uint32_t>(i));
    }
}
HD_KERNEL(hd_disorder, hd::DisorderArgs)
