// Records and pairs -> the slots of a RecordTable: at multiples of 16, '\n' and '\0' behind them. See kernels.h.
#pragma once

#include "steps/grid.cuh"

namespace hd {

constexpr uint32_t stage_lanes = 4;  // that copy one record together

HD_DEVICE uint32_t slot_size(uint32_t length) { return (length + 2 + 15) & ~15u; }

HD_DEVICE bool has_tab(const Pair &pair) { return pair.key_length < pair.length; }

// What one slot gets: `size` bytes, the byte `extra` if it is not 0, '\n', '\0'; zeros up to the slot's end.
struct Staged {
    const char *from;
    uint32_t size;
    char extra;

    HD_DEVICE char byte(uint32_t i) const {
        if (i < size) return from[i];
        if (extra) return i == size ? extra : i == size + 1 ? '\n' : 0;
        return i == size ? '\n' : 0;
    }

    HD_DEVICE Bytes16 unit(uint32_t at) const {
        if (size >= 16 && at <= size - 16) return load_16(from + at);
        Bytes16 bytes;
        for (uint32_t k = 0; k < 4; ++k) {
            bytes.word[k] = 0;
            for (uint32_t j = 0; j < 4; ++j)
                bytes.word[k] |= static_cast<uint32_t>(static_cast<unsigned char>(byte(at + k * 4 + j))) << j * 8;
        }
        return bytes;
    }

    HD_DEVICE void copy(char *slot, uint32_t lane) const {
        const uint32_t bytes = slot_size(size + (extra ? 1 : 0));
        for (uint32_t at = lane * 16; at < bytes; at += stage_lanes * 16) *reinterpret_cast<Bytes16 *>(slot + at) = unit(at);
    }
};

}  // namespace hd

extern "C" __global__ void hd_stage_record_sizes(const hd::StageRecordsArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) a.sizes[i] = hd::slot_size(a.length[i]);
}
HD_KERNEL(hd_stage_record_sizes, hd::StageRecordsArgs)

extern "C" __global__ void hd_stage_records(const hd::StageRecordsArgs a) {
    const uint64_t lanes = static_cast<uint64_t>(a.count) * hd::stage_lanes;
    for (uint64_t i = hd::grid_thread(); i < lanes; i += hd::grid_threads()) {
        const uint64_t record = i / hd::stage_lanes;
        const hd::Staged staged = {a.text + a.offset[record], a.length[record], 0};
        staged.copy(a.staged + a.staged_offset[record], static_cast<uint32_t>(i % hd::stage_lanes));
    }
}
HD_KERNEL(hd_stage_records, hd::StageRecordsArgs)

extern "C" __global__ void hd_stage_pair_sizes(const hd::StagePairsArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) {
        const hd::Pair pair = a.pairs[a.order[i]];
        a.length[i] = pair.length + (hd::has_tab(pair) ? 0 : 1);
        a.sizes[i] = hd::slot_size(a.length[i]);
    }
}
HD_KERNEL(hd_stage_pair_sizes, hd::StagePairsArgs)

extern "C" __global__ void hd_stage_pairs(const hd::StagePairsArgs a) {
    const uint64_t lanes = static_cast<uint64_t>(a.count) * hd::stage_lanes;
    for (uint64_t i = hd::grid_thread(); i < lanes; i += hd::grid_threads()) {
        const uint64_t record = i / hd::stage_lanes;
        const hd::Pair pair = a.pairs[a.order[record]];
        const hd::Staged staged = {a.arena + pair.at, pair.length, hd::has_tab(pair) ? '\0' : '\t'};
        staged.copy(a.staged + a.staged_offset[record], static_cast<uint32_t>(i % hd::stage_lanes));
    }
}
HD_KERNEL(hd_stage_pairs, hd::StagePairsArgs)

extern "C" __global__ void hd_length_keys(const hd::LengthKeysArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) {
        uint64_t bytes = 0;
        const uint64_t last = a.begin ? a.begin[i + 1] : i + 1;
        for (uint64_t record = a.begin ? a.begin[i] : i; record < last; ++record) bytes += a.length[record];
        a.keys[i] = 0xffffffffu - (bytes < 0xffffffffu ? bytes : 0xffffffffu);
    }
}
HD_KERNEL(hd_length_keys, hd::LengthKeysArgs)
