// The runtime's own kernels for ordered key loops: texts of keys that are kept, and orders of pairs by them. See ordered.h.
#pragma once

#include "sink/key_hash.cuh"

namespace hd {

// Whole words: a key is read by words.
HD_DEVICE uint32_t kept_size(uint32_t length) { return (length + 7) & ~7u; }

}  // namespace hd

extern "C" __global__ void hd_keys_insert(const hd::InsertKeysArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.kept.count; i += hd::grid_threads()) {
        const uint32_t number = static_cast<uint32_t>(i);
        const uint64_t hash = hd::key_hash(hd::kept_key(a.kept, number));
        for (uint32_t place = static_cast<uint32_t>(hash) & a.table.mask;; place = (place + 1) & a.table.mask) {
            if (atomicCAS(&a.table.words[place], 0ull, hd::key_table_word(hash, number, true)) != 0) continue;
            a.table.numbers[place] = number;
            break;
        }
    }
}
HD_KERNEL(hd_keys_insert, hd::InsertKeysArgs)

extern "C" __global__ void hd_keys_sizes(const hd::KeepKeysArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads())
        a.sizes[i] = hd::kept_size(a.pairs[a.new_slots[i]].key_length);
}
HD_KERNEL(hd_keys_sizes, hd::KeepKeysArgs)

extern "C" __global__ void hd_keys_keep(const hd::KeepKeysArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) {
        const hd::Key key = hd::slot_key(a.arena, a.pairs, a.new_slots[i]);
        const uint32_t number = a.kept.count + static_cast<uint32_t>(i);
        const uint64_t at = a.base + a.offset[i];
        for (uint32_t k = 0; k < hd::kept_size(key.length); ++k) a.kept.text[at + k] = k < key.length ? key.bytes[k] : '\0';
        a.kept.at[number] = at;
        a.kept.length[number] = key.length;
        unsigned long long *const word = a.table.words + a.new_places[i];
        *word = hd::key_table_word(0, number, true) | (*word & ~0xffffffffull);
    }
}
HD_KERNEL(hd_keys_keep, hd::KeepKeysArgs)

extern "C" __global__ void hd_ordered_sequences(const hd::OrderedKeysArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) a.keys[i] = a.pairs[a.slots[a.of[i]]].sequence;
}
HD_KERNEL(hd_ordered_sequences, hd::OrderedKeysArgs)

extern "C" __global__ void hd_ordered_keys(const hd::OrderedKeysArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) {
        const uint32_t pair = a.of[i];
        const uint64_t number = a.numbers[a.places[pair]];
        a.keys[i] = number << a.item_bits | a.pairs[a.slots[pair]].item;
    }
}
HD_KERNEL(hd_ordered_keys, hd::OrderedKeysArgs)

extern "C" __global__ void hd_ordered_starts(const hd::OrderedStartsArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads())
        a.flags[i] = i == 0 || a.keys[i] >> a.item_bits != a.keys[i - 1] >> a.item_bits;
}
HD_KERNEL(hd_ordered_starts, hd::OrderedStartsArgs)

extern "C" __global__ void hd_ordered_long(const hd::LongRunsArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.runs; i += hd::grid_threads())
        a.flags[i] = a.starts[i + 1] - a.starts[i] >= hd::long_run;
}
HD_KERNEL(hd_ordered_long, hd::LongRunsArgs)
