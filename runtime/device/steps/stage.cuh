// Records and pairs -> the slots of a RecordTable: at multiples of 16, '\n' and '\0' behind them. See kernels.h.
#pragma once

#include "steps/grid.cuh"

namespace hd {

constexpr uint32_t stage_lanes = 4;  // that copy one pair together

HD_DEVICE bool has_tab(const Pair &pair) { return pair.key_length < pair.length; }

// What one slot gets: `size` bytes, the byte `extra` if it is not 0, '\n', '\0'; zeros up to the slot's end. `WholeWords`: all
// bytes of a word that holds the text's end have been written, as in an input's text, so that it may be read whole.
template <bool WholeWords> struct Staged {
    const char *from;
    uint32_t size;
    char extra;

    HD_DEVICE char byte(uint32_t i) const {
        if (i < size) return from[i];
        if (extra) return i == size ? extra : i == size + 1 ? '\n' : 0;
        return i == size ? '\n' : 0;
    }

    // The bytes [at, at + 16) of the slot, from the aligned words that hold some of them.
    HD_DEVICE Bytes16 unit(uint32_t at) const {
        if (size >= 16 && at <= size - 16) return load_16(from + at);
        if (at >= size) return {{static_cast<uint32_t>(end_bytes(at - size)), 0, 0, 0}};
        if constexpr (!WholeWords) return {{word(at), word(at + 4), word(at + 8), word(at + 12)}};
        const uint32_t rest = size - at;  // 1 to 15
        const Words words(from + at);
        const uint32_t reach = words.shift / 8 + rest;
        const uint32_t w0 = words.base[0], w1 = reach > 4 ? words.base[1] : 0, w2 = reach > 8 ? words.base[2] : 0;
        const uint32_t w3 = reach > 12 ? words.base[3] : 0, w4 = reach > 16 ? words.base[4] : 0;
        return {{part(Words::join(w0, w1, words.shift), rest, 0), part(Words::join(w1, w2, words.shift), rest, 4),
                 part(Words::join(w2, w3, words.shift), rest, 8), part(Words::join(w3, w4, words.shift), rest, 12)}};
    }

    // By `lanes` lanes.
    HD_DEVICE void copy(char *slot, uint32_t lane, uint32_t lanes) const {
        const uint32_t bytes = slot_size(size + (extra ? 1 : 0));
        for (uint32_t at = lane * 16; at < bytes; at += lanes * 16) *reinterpret_cast<Bytes16 *>(slot + at) = unit(at);
    }

 private:
    // Four bytes of the slot.
    HD_DEVICE uint32_t word(uint32_t at) const {
        uint32_t word = 0;
        for (uint32_t k = 4; k-- > 0;) word = word << 8 | static_cast<unsigned char>(byte(at + k));
        return word;
    }

    // What stands behind the text, from its byte `k` on, the first one the lowest.
    HD_DEVICE uint64_t end_bytes(uint32_t k) const {
        const uint64_t bytes = extra ? static_cast<uint64_t>('\n') << 8 | static_cast<unsigned char>(extra) : '\n';
        return k < 8 ? bytes >> k * 8 : 0;
    }

    // Of a unit with `rest` bytes of text: its word at the byte `at`, with what stands behind the text.
    HD_DEVICE uint32_t part(uint32_t word, uint32_t rest, uint32_t at) const {
        if (rest >= at + 4) return word;
        if (rest <= at) return static_cast<uint32_t>(end_bytes(at - rest));
        const uint32_t bits = (rest - at) * 8;
        return (word & ~(~0u << bits)) | static_cast<uint32_t>(end_bytes(0) << bits);
    }
};

}  // namespace hd

extern "C" __global__ void hd_stage_records(const hd::StageRecordsArgs a) {
    const uint64_t lanes = static_cast<uint64_t>(a.count) << a.lane_bits;
    for (uint64_t i = hd::grid_thread(); i < lanes; i += hd::grid_threads()) {
        const uint64_t record = i >> a.lane_bits;
        const hd::Staged<true> staged = {a.text + a.offset[record], a.length[record], 0};
        staged.copy(a.staged + a.slot[record], static_cast<uint32_t>(i) & ((1u << a.lane_bits) - 1), 1u << a.lane_bits);
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
        const hd::Staged<false> staged = {a.arena + pair.at, pair.length, hd::has_tab(pair) ? '\0' : '\t'};
        staged.copy(a.staged + a.staged_offset[record], static_cast<uint32_t>(i % hd::stage_lanes), hd::stage_lanes);
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
