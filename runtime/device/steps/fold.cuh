// Folding pairs by hash tables: one in the shared memory of each block, which takes most of the pairs of frequent keys,
// and one for all in global memory. See fold.h.
//
// A key's id is exact. Of up to 7 bytes: the bytes, the first one the highest, and length + 1 in the lowest byte. Longer: a
// slot that holds the key, 24 bits of hash, and 255 in the lowest byte; two such ids are equal if the keys in their slots are.
#pragma once

#include "steps/audit.cuh"
#include "lane/failure.cuh"
#include "steps/fold.h"
#include "steps/keys.cuh"
#include "lane/words.cuh"

namespace hd {

constexpr uint32_t fold_block_places = 2048, fold_block_probes = 4, fold_probes = 128;
constexpr uint32_t short_key = 7;
constexpr uint64_t long_id = 0xff;
constexpr uint32_t nowhere_in_table = 0xffffffffu;

HD_DEVICE uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
    return x ^ x >> 29;
}

struct FoldKey {
    uint64_t id, hash;
};

HD_DEVICE Key key_in(const FoldArgs &a, uint32_t slot) { return {a.arena + a.pairs[slot].at, a.pairs[slot].key_length}; }

HD_DEVICE FoldKey fold_key(const Key &key, uint32_t slot) {
    if (key.length <= short_key) {
        const uint64_t id = key.prefix(0) | (key.length + 1);
        return {id, mixed(id)};
    }
    uint64_t hash = key.length;
    for (uint32_t position = 0; position < key.length; position += 8) hash = mixed(hash ^ key.prefix(position));
    return {hash >> 40 << 40 | static_cast<uint64_t>(slot) << 8 | long_id, hash};
}

HD_DEVICE uint32_t slot_of(uint64_t id) { return static_cast<uint32_t>(id >> 8); }

HD_DEVICE bool same_id(const FoldArgs &a, uint64_t there, uint64_t id) {
    if (there == id) return true;
    const uint64_t compared = 0xffffffull << 40 | 0xff;  // hash and tag
    if ((id & 0xff) != long_id || (there & compared) != (id & compared)) return false;
    return same_key(key_in(a, slot_of(there)), key_in(a, slot_of(id)));
}

// The place of the key in a table of mask + 1, claimed if need be; nowhere_in_table after so many probes. `claimed` counts.
HD_DEVICE uint32_t fold_place(const FoldArgs &a, unsigned long long *ids, uint32_t mask, const FoldKey &key, uint32_t probes,
                              uint64_t &claimed) {
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
        if (same_id(a, there, key.id)) return place;
    }
    return nowhere_in_table;
}

HD_DEVICE void fold_into(unsigned long long *value, FoldOp op, uint64_t other) {
    if (op == FoldOp::sum)
        atomicAdd(value, static_cast<unsigned long long>(other));
    else if (op == FoldOp::least)
        atomicMin(value, static_cast<unsigned long long>(other));
    else
        atomicMax(value, static_cast<unsigned long long>(other));
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

struct FoldBlock {
    unsigned long long ids[fold_block_places];
    union {
        unsigned long long value;
        Halves sum;
    } values[fold_block_places];
    Halves pairs, bytes, unreadable, errors, claimed;
};

// A value in the order of unsigned numbers, where order matters.
HD_DEVICE uint64_t ordered(FoldOp op, ValueReader reader, uint64_t number) {
    const bool is_signed = reader == ValueReader::int32 || reader == ValueReader::int64;
    return op != FoldOp::sum && is_signed ? number ^ 1ull << 63 : number;
}

struct FoldCounts {
    uint64_t pairs = 0, bytes = 0, unreadable = 0, errors = 0, claimed = 0;
};

// A pair's line as far as it has been read: its key's id where that is short, its value.
struct FoldLine {
    FoldKey key;
    uint64_t number;
    bool readable;
};

// Is some byte of x below 33, where white space and NUL are?
HD_DEVICE bool low_byte(uint64_t x) { return (x - every_byte * 33) & ~x & top_bits; }

// A line of a short key and a short number, from the two words that hold it: false where it needs another look.
HD_DEVICE bool short_line(const FoldArgs &a, const char *text, const Pair &pair, FoldLine &line) {
    const uint32_t digits = pair.length - pair.key_length - 1;  // wraps where there is no tab
    if (pair.key_length - 1 >= short_key || digits - 1 >= 8 || pair.at % 8) return false;
    const uint64_t *const words = reinterpret_cast<const uint64_t *>(text);
    const uint64_t first = words[0], second = pair.length > 8 ? words[1] : 0;
    const uint32_t bits = (pair.key_length + 1) * 8;
    const uint64_t key = first & ~(~0ull << (bits - 8));
    if (low_byte(key | ~0ull << (bits - 8)) || (a.longest_key && pair.key_length > a.longest_key)) return false;
    if (a.key > KeyReader::field && !key_reads_as_number(a, text, pair.key_length)) return false;
    uint64_t rest = bits == 64 ? second : first >> bits | second << (64 - bits), number = 0;
    for (uint32_t i = 0; i < digits; ++i, rest >>= 8) {
        const uint32_t digit = (static_cast<uint32_t>(rest) & 0xff) - '0';
        if (digit > 9) return false;
        number = number * 10 + digit;
    }
    const uint64_t id = static_cast<uint64_t>(swap_bytes(static_cast<uint32_t>(key))) << 32 |
                        swap_bytes(static_cast<uint32_t>(key >> 32)) | (pair.key_length + 1);
    line = {{id, mixed(id)}, number, true};
    return true;
}

HD_DEVICE FoldLine read_line(const FoldArgs &a, const char *text, const Pair &pair, uint32_t slot) {
    FoldLine line;
    if (short_line(a, text, pair, line)) return line;
    const uint32_t from = pair.key_length < pair.length ? pair.key_length + 1 : pair.length;
    line.number = 0;
    line.readable = key_reads_back(a, text, pair.key_length) &&
                    value_reads_back(a.value, text + from, pair.length - from, line.number);
    if (line.readable) line.key = fold_key({text, pair.key_length}, slot);
    return line;
}

HD_DEVICE void fold_pair(const FoldArgs &a, FoldBlock &block, uint32_t slot, FoldCounts &counts) {
    const Pair pair = a.pairs[slot];
    if (pair.length == no_pair) return;
    if (pair.sequence & to_stderr) {
        ++counts.errors;
        return;
    }
    const char *const text = a.arena + pair.at;
    const uint32_t from = pair.key_length < pair.length ? pair.key_length + 1 : pair.length;
    ++counts.pairs;
    counts.bytes += text_size(pair.key_length) + text_size(pair.length - from);
    const FoldLine line = read_line(a, text, pair, slot);
    if (!line.readable || pair.length > a.longest_line) {
        ++counts.unreadable;
        return;
    }
    const uint64_t number = ordered(a.table.op, a.value, line.number);
    const FoldKey key = line.key;
    uint64_t unused = 0;
    uint32_t place = fold_place(a, block.ids, fold_block_places - 1, key, fold_block_probes, unused);
    if (place != nowhere_in_table) {
        if (a.table.op == FoldOp::sum) block.values[place].sum.add(number);
        else fold_into(&block.values[place].value, a.table.op, number);
        return;
    }
    place = fold_place(a, a.table.ids, a.table.mask, key, fold_probes, counts.claimed);
    if (place == nowhere_in_table) atomicExch(&a.words->overflow, 1ull);
    else fold_into(&a.table.values[place], a.table.op, number);
}

// What the block's table holds goes to the table of all.
HD_DEVICE void flush_place(const FoldArgs &a, FoldBlock &block, uint32_t i, FoldCounts &counts) {
    const uint64_t id = block.ids[i];
    if (id == 0) return;
    const uint64_t value = a.table.op == FoldOp::sum ? block.values[i].sum.whole() : block.values[i].value;
    const FoldKey key = (id & 0xff) == long_id ? fold_key(key_in(a, slot_of(id)), slot_of(id)) : FoldKey{id, mixed(id)};
    const uint32_t place = fold_place(a, a.table.ids, a.table.mask, key, fold_probes, counts.claimed);
    if (place == nowhere_in_table) atomicExch(&a.words->overflow, 1ull);
    else fold_into(&a.table.values[place], a.table.op, value);
}

HD_DEVICE void add_word(unsigned long long *word, const Halves &block) {
    if (block.whole()) atomicAdd(word, static_cast<unsigned long long>(block.whole()));
}

// The key of a line, byte by byte.
struct FoldedKey {
    uint64_t id;
    Key key;  // of a long one

    HD_DEVICE uint32_t length() const { return (id & 0xff) == long_id ? key.length : static_cast<uint32_t>(id & 0xff) - 1; }
    HD_DEVICE char byte(uint32_t i) const {
        return (id & 0xff) == long_id ? key.bytes[i] : static_cast<char>(id >> (56 - 8 * i));
    }
};

HD_DEVICE FoldedKey folded_key(const FoldLinesArgs &a, uint64_t i) {
    const uint64_t id = a.table.ids[a.chosen[i]];
    if ((id & 0xff) != long_id) return {id, {nullptr, 0}};
    const Pair &pair = a.pairs[slot_of(id)];
    return {id, {a.arena + pair.at, pair.key_length}};
}

// A value as the combiner's reader sees the number: wrapped to its width.
struct FoldedValue {
    uint64_t magnitude;
    bool negative;

    HD_DEVICE FoldedValue(const FoldLinesArgs &a, uint64_t i) {
        uint64_t number = ordered(a.table.op, a.value, a.table.values[a.chosen[i]]);
        if (a.value == ValueReader::int32) number = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(number)));
        if (a.value == ValueReader::uint32) number = static_cast<uint32_t>(number);
        negative = (a.value == ValueReader::int32 || a.value == ValueReader::int64) && number >> 63;
        magnitude = negative ? 0 - number : number;
    }
    HD_DEVICE uint32_t digits() const {
        uint32_t n = 1;
        for (uint64_t rest = magnitude; rest >= 10; rest /= 10) ++n;
        return n;
    }
};

}  // namespace hd

extern "C" __global__ void hd_fold(const hd::FoldArgs a) {
    HD_SHARED(hd::FoldBlock, block);
    for (uint32_t i = threadIdx.x; i < hd::fold_block_places; i += blockDim.x) {
        block.ids[i] = 0;
        block.values[i].value = a.table.op == hd::FoldOp::least ? ~0ull : 0;
    }
    if (threadIdx.x == 0) block.pairs = block.bytes = block.unreadable = block.errors = block.claimed = {0, 0};
    __syncthreads();
    hd::FoldCounts counts;
    for (uint64_t i = hd::grid_thread(); i < a.slots; i += hd::grid_threads())
        hd::fold_pair(a, block, static_cast<uint32_t>(i), counts);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < hd::fold_block_places; i += blockDim.x) hd::flush_place(a, block, i, counts);
    block.pairs.add(counts.pairs);
    block.bytes.add(counts.bytes);
    if (counts.unreadable) block.unreadable.add(counts.unreadable);
    if (counts.errors) block.errors.add(counts.errors);
    if (counts.claimed) block.claimed.add(counts.claimed);
    __syncthreads();
    if (threadIdx.x != 0) return;
    hd::add_word(&a.words->pairs, block.pairs);
    hd::add_word(&a.words->bytes, block.bytes);
    hd::add_word(&a.words->unreadable, block.unreadable);
    hd::add_word(&a.words->errors, block.errors);
    hd::add_word(&a.words->distinct, block.claimed);
}
HD_KERNEL(hd_fold, hd::FoldArgs)

extern "C" __global__ void hd_fold_flags(const hd::FoldFlagsArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) a.flags[i] = a.ids[i] != 0;
}
HD_KERNEL(hd_fold_flags, hd::FoldFlagsArgs)

extern "C" __global__ void hd_fold_sizes(const hd::FoldLinesArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) {
        const hd::FoldedValue value(a, i);
        const uint32_t size = hd::folded_key(a, i).length() + 1 + value.negative + value.digits() + 1;
        a.sizes[i] = (size + 7) & ~7u;
    }
}
HD_KERNEL(hd_fold_sizes, hd::FoldLinesArgs)

extern "C" __global__ void hd_fold_lines(const hd::FoldLinesArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) {
        const hd::FoldedKey key = hd::folded_key(a, i);
        const hd::FoldedValue value(a, i);
        const uint32_t length = key.length(), end = length + 1 + value.negative + value.digits();
        const uint64_t at = a.base + a.offset[i];
        char *const text = a.to + at;
        for (uint32_t k = 0; k < length; ++k) text[k] = key.byte(k);
        text[length] = '\t';
        if (value.negative) text[length + 1] = '-';
        uint64_t rest = value.magnitude;
        for (uint32_t k = end; k > length + 1 + value.negative; rest /= 10) text[--k] = static_cast<char>('0' + rest % 10);
        text[end] = '\n';
        a.lines[a.first + i] = {at, end, length, static_cast<uint32_t>(a.first + i), 0};
    }
}
HD_KERNEL(hd_fold_lines, hd::FoldLinesArgs)
