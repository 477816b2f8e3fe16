// Hash tables of keys and the folds of their numbers, in a block's shared memory and in global memory. See fold.h.
//
// A key's id is exact. Of up to 7 bytes: the bytes, the first one the highest, and length + 1 in the lowest byte. Longer: a
// slot that holds the key, 24 bits of hash, and 255 in the lowest byte; two such ids are equal if the keys in their slots are.
#pragma once

#include "lane/failure.cuh"
#include "steps/fold.h"
#include "steps/key.cuh"

namespace hd {

constexpr uint32_t fold_block_probes = 4, fold_probes = 128;
constexpr uint32_t short_key = 7;
constexpr uint64_t long_id = 0xff;
constexpr uint32_t nowhere_in_table = 0xffffffffu;

// ---- keys

struct FoldKey {
    uint64_t id, hash;
};

// Where the keys of long ids lie.
struct KeySlots {
    const char *arena;
    const Pair *pairs;

    HD_DEVICE Key key(uint32_t slot) const { return {arena + pairs[slot].at, pairs[slot].key_length}; }
};

HD_DEVICE FoldKey short_fold_key(uint64_t bytes, uint32_t length) {
    const uint64_t id = bytes | (length + 1);
    return {id, mixed(id)};
}

HD_DEVICE FoldKey long_fold_key(uint64_t hash, uint32_t slot) {
    return {hash >> 40 << 40 | static_cast<uint64_t>(slot) << 8 | long_id, hash};
}

HD_DEVICE FoldKey fold_key(const Key &key, uint32_t slot) {
    if (key.length <= short_key) return short_fold_key(key.prefix(0), key.length);
    uint64_t hash = key.length;
    for (uint32_t position = 0; position < key.length; position += 8) hash = mixed(hash ^ key.prefix(position));
    return long_fold_key(hash, slot);
}

HD_DEVICE bool is_long(uint64_t id) { return (id & 0xff) == long_id; }
HD_DEVICE uint32_t slot_of(uint64_t id) { return static_cast<uint32_t>(id >> 8); }

// The key of an id that a table holds.
HD_DEVICE FoldKey fold_key_of(const KeySlots &slots, uint64_t id) {
    return is_long(id) ? fold_key(slots.key(slot_of(id)), slot_of(id)) : FoldKey{id, mixed(id)};
}

HD_DEVICE bool same_id(const KeySlots &slots, uint64_t there, uint64_t id) {
    if (there == id) return true;
    const uint64_t compared = 0xffffffull << 40 | 0xff;  // hash and tag
    if (!is_long(id) || (there & compared) != (id & compared)) return false;
    return same_key(slots.key(slot_of(there)), slots.key(slot_of(id)));
}

// The place of the key in a table of mask + 1, claimed if need be; nowhere_in_table after so many probes. `claimed` counts.
HD_DEVICE uint32_t fold_place(const KeySlots &slots, unsigned long long *ids, uint32_t mask, const FoldKey &key,
                              uint32_t probes, uint64_t &claimed) {
    for (uint32_t probe = 0; probe < probes; ++probe) {
        const uint32_t place = static_cast<uint32_t>(key.hash + probe) & mask;
        unsigned long long there = peek_word(&ids[place]);
        if (there == 0) {
            there = atomicCAS(&ids[place], 0ull, static_cast<unsigned long long>(key.id));
            if (there == 0) {
                ++claimed;
                return place;
            }
        }
        if (same_id(slots, there, key.id)) return place;
    }
    return nowhere_in_table;
}

// ---- numbers

HD_DEVICE bool is_signed(ValueReader reader) { return reader == ValueReader::int32 || reader == ValueReader::int64; }
HD_DEVICE bool is_wide(ValueReader reader) { return reader == ValueReader::int64 || reader == ValueReader::uint64; }

// What a fold begins with.
HD_DEVICE uint64_t identity(FoldOp op) { return op == FoldOp::least || op == FoldOp::bits_and ? ~0ull : 0; }

// A number as a table holds it, in the order of unsigned numbers where order matters; and back.
HD_DEVICE uint64_t ordered(FoldOp op, ValueReader reader, uint64_t number) {
    const bool orders = op == FoldOp::least || op == FoldOp::greatest;
    return orders && is_signed(reader) ? number ^ (is_wide(reader) ? 1ull << 63 : 1ull << 31) : number;
}

// 64 bits in shared memory, where an addition of 64 bits would be a loop.
struct Halves {
    unsigned int low, high;

    HD_DEVICE void add(uint64_t other) {
        const unsigned int part = static_cast<unsigned int>(other);
        const unsigned int before = atomicAdd(&low, part);
        const unsigned int carried = static_cast<unsigned int>(other >> 32) + (before + part < before ? 1u : 0u);
        if (carried) atomicAdd(&high, carried);
    }
    HD_DEVICE uint64_t whole() const { return static_cast<uint64_t>(high) << 32 | low; }
};

union FoldWord {
    unsigned long long whole;
    Halves halves;
};

template <class T> HD_DEVICE void fold_number(T *word, FoldOp op, T other) {
    switch (op) {
        case FoldOp::sum: atomicAdd(word, other); break;
        case FoldOp::least: atomicMin(word, other); break;
        case FoldOp::greatest: atomicMax(word, other); break;
        case FoldOp::bits_and: atomicAnd(word, other); break;
        case FoldOp::bits_or: atomicOr(word, other); break;
        case FoldOp::bits_xor: atomicXor(word, other); break;
    }
}

// Into a word of global memory. `number` is ordered.
HD_DEVICE void fold_into(unsigned long long *value, FoldOp op, ValueReader reader, uint64_t number) {
    FoldWord *const word = reinterpret_cast<FoldWord *>(value);
    if (is_wide(reader)) fold_number(&word->whole, op, static_cast<unsigned long long>(number));
    else fold_number(&word->halves.low, op, static_cast<unsigned int>(number));
}

// Into one of shared memory, where operations on 64 bits are loops of compare and swap: only where they change something.
HD_DEVICE void fold_into_block(FoldWord &word, FoldOp op, ValueReader reader, uint64_t number) {
    const unsigned int low = static_cast<unsigned int>(number), high = static_cast<unsigned int>(number >> 32);
    if (!is_wide(reader)) return fold_number(&word.halves.low, op, low);
    if (op == FoldOp::sum) return word.halves.add(number);
    if (op == FoldOp::least || op == FoldOp::greatest) {
        const uint64_t there = peek_word(&word.whole);
        const bool changes = op == FoldOp::least ? number < there : number > there;
        if (changes) fold_number(&word.whole, op, static_cast<unsigned long long>(number));
        return;
    }
    fold_number(&word.halves.low, op, low);
    fold_number(&word.halves.high, op, high);
}

// The numbers of one pair, or of one key, ordered.
template <uint32_t Most> struct FoldNumbers {
    uint64_t number[Most];
};

// ---- tables

constexpr uint32_t block_places(uint32_t most) { return most == 1 ? 2048 : most <= 4 ? 1024 : 512; }

// Of a block, for values of up to `Most` numbers.
template <uint32_t Most> struct FoldBlock {
    static constexpr uint32_t places = block_places(Most);
    unsigned long long ids[places];
    FoldWord values[Most][places];

    // By all threads, before a barrier.
    HD_DEVICE void start(const FoldForm &form) {
        for (uint32_t i = threadIdx.x; i < places; i += blockDim.x) {
            ids[i] = 0;
            HD_UNROLL
            for (uint32_t field = 0; field < Most; ++field)
                if (field < form.value.count) values[field][i].whole = identity(form.ops[field]);
        }
    }

    // False where the table has no place for the key.
    HD_DEVICE bool fold(const KeySlots &slots, const FoldForm &form, const FoldKey &key, const FoldNumbers<Most> &numbers) {
        uint64_t unused = 0;
        const uint32_t place = fold_place(slots, ids, places - 1, key, fold_block_probes, unused);
        if (place == nowhere_in_table) return false;
        HD_UNROLL
        for (uint32_t field = 0; field < Most; ++field)
            if (field < form.value.count)
                fold_into_block(values[field][place], form.ops[field], form.value.readers[field], numbers.number[field]);
        return true;
    }

    HD_DEVICE FoldNumbers<Most> numbers(const FoldForm &form, uint32_t place) const {
        FoldNumbers<Most> found;
        HD_UNROLL
        for (uint32_t field = 0; field < Most; ++field)
            found.number[field] = field < form.value.count ? values[field][place].whole : 0;
        return found;
    }
};

// False where the table has no place for the key.
template <uint32_t Most>
HD_DEVICE bool fold_into_table(const KeySlots &slots, const FoldTable &table, const FoldForm &form, const FoldKey &key,
                               const FoldNumbers<Most> &numbers, uint64_t &claimed) {
    const uint32_t place = fold_place(slots, table.ids, table.mask, key, fold_probes, claimed);
    if (place == nowhere_in_table) return false;
    unsigned long long *const values = table.values + static_cast<uint64_t>(place) * form.value.count;
    HD_UNROLL
    for (uint32_t field = 0; field < Most; ++field)
        if (field < form.value.count)
            fold_into(values + field, form.ops[field], form.value.readers[field], numbers.number[field]);
    return true;
}

}  // namespace hd
