// Where keys belong in a KeyTable (ordered.h).
#pragma once

#include "lane/failure.cuh"
#include "sink/ordered.h"
#include "steps/key.cuh"

namespace hd {

constexpr uint32_t key_probes = 128, no_place = 0xffffffffu;

HD_DEVICE Key kept_key(const KeptKeys &kept, uint32_t number) { return {kept.text + kept.at[number], kept.length[number]}; }

HD_DEVICE Key slot_key(const char *arena, const Pair *pairs, uint32_t slot) {
    return {arena + pairs[slot].at, pairs[slot].key_length};
}

HD_DEVICE uint64_t key_hash(const Key &key) {
    uint64_t hash = key.length;
    for (uint32_t position = 0; position < key.length; position += 8) hash = mixed(hash ^ key.prefix(position));
    return hash;
}

// The word of a key of this hash: a number if it is kept, else a slot.
HD_DEVICE unsigned long long key_table_word(uint64_t hash, uint32_t reference, bool kept) {
    return key_used | (kept ? key_kept : 0) | (hash >> 34) << 32 | reference;
}

HD_DEVICE bool same_hash(uint64_t a, uint64_t b) { return ((a ^ b) & ~key_kept) >> 32 == 0; }

// Calls is_key(word) for words of the same hash. The place that has the key, or that was claimed with `word`: then `claimed`.
template <class IsKey>
HD_DEVICE uint32_t key_place(const KeyTable &table, uint64_t hash, unsigned long long word, bool &claimed, IsKey is_key) {
    claimed = false;
    for (uint32_t probe = 0; probe < key_probes; ++probe) {
        const uint32_t place = static_cast<uint32_t>(hash + probe) & table.mask;
        unsigned long long there = peek_word(&table.words[place]);
        if (there == 0) {
            there = atomicCAS(&table.words[place], 0ull, word);
            if (there == 0) {
                claimed = true;
                return place;
            }
        }
        if (same_hash(there, word) && is_key(there)) return place;
    }
    return no_place;
}

}  // namespace hd
