// Folding pairs by hash tables: one in the shared memory of each block, which takes most of the pairs of frequent keys,
// and one for all in global memory. See fold.h.
#pragma once

#include "lane/words.cuh"
#include "steps/fold_table.cuh"
#include "steps/reading.cuh"

namespace hd {

// What a launch counts, in each thread and in each block.
struct FoldCounts {
    uint64_t pairs = 0, bytes = 0, unreadable = 0, errors = 0, claimed = 0;
};

struct BlockCounts {
    Halves pairs, bytes, unreadable, errors, claimed;

    HD_DEVICE void start() { pairs = bytes = unreadable = errors = claimed = {0, 0}; }
    HD_DEVICE void add(const FoldCounts &counts) {
        pairs.add(counts.pairs);
        bytes.add(counts.bytes);
        if (counts.unreadable) unreadable.add(counts.unreadable);
        if (counts.errors) errors.add(counts.errors);
        if (counts.claimed) claimed.add(counts.claimed);
    }
    // By one thread, behind a barrier.
    HD_DEVICE void give(FoldWords *words) const {
        give(&words->pairs, pairs);
        give(&words->bytes, bytes);
        give(&words->unreadable, unreadable);
        give(&words->errors, errors);
        give(&words->distinct, claimed);
    }

 private:
    static HD_DEVICE void give(unsigned long long *word, const Halves &count) {
        if (count.whole()) atomicAdd(word, static_cast<unsigned long long>(count.whole()));
    }
};

// A pair's line as far as it has been read: its key, the numbers of its value.
template <uint32_t Most> struct FoldLine {
    FoldKey key;
    FoldNumbers<Most> numbers;
    bool readable;
};

// Is some byte of x below 33, where white space and NUL are?
HD_DEVICE bool low_byte(uint64_t x) { return (x - every_byte * 33) & ~x & top_bits; }

// A line of a short key and one short number, from the two words that hold it: false where it needs another look.
HD_DEVICE bool short_line(const FoldArgs &a, const char *text, const Pair &pair, FoldKey &key, uint64_t &number) {
    const uint32_t digits = pair.length - pair.key_length - 1;  // wraps where there is no tab
    if (pair.key_length - 1 >= short_key || digits - 1 >= 8 || pair.at % 8) return false;
    const uint64_t *const words = reinterpret_cast<const uint64_t *>(text);
    const uint64_t first = words[0], second = pair.length > 8 ? words[1] : 0;
    const uint32_t bits = (pair.key_length + 1) * 8;
    const uint64_t bytes = first & ~(~0ull << (bits - 8));
    if (low_byte(bytes | ~0ull << (bits - 8)) || (a.longest_key && pair.key_length > a.longest_key)) return false;
    if (a.key > KeyReader::field && !key_reads_as_number(a, text, pair.key_length)) return false;
    uint64_t rest = bits == 64 ? second : first >> bits | second << (64 - bits);
    number = 0;
    for (uint32_t i = 0; i < digits; ++i, rest >>= 8) {
        const uint32_t digit = (static_cast<uint32_t>(rest) & 0xff) - '0';
        if (digit > 9) return false;
        number = number * 10 + digit;
    }
    key = short_fold_key(static_cast<uint64_t>(swap_bytes(static_cast<uint32_t>(bytes))) << 32 |
                             swap_bytes(static_cast<uint32_t>(bytes >> 32)), pair.key_length);
    return true;
}

template <uint32_t Most>
HD_DEVICE FoldLine<Most> read_line(const FoldArgs &a, const char *text, const Pair &pair, uint32_t slot) {
    FoldLine<Most> line;
    line.readable = true;
    if (Most == 1 && short_line(a, text, pair, line.key, line.numbers.number[0])) return line;
    const uint32_t from = pair.key_length < pair.length ? pair.key_length + 1 : pair.length;
    line.readable = key_reads_back(a, text, pair.key_length) &&
                    value_reads_back<Most>(a.form.value, text + from, pair.length - from,
                                           [&](uint32_t field, uint64_t number) { line.numbers.number[field] = number; });
    if (line.readable) line.key = fold_key({text, pair.key_length}, slot);
    return line;
}

template <uint32_t Most>
HD_DEVICE void fold_pair(const FoldArgs &a, FoldBlock<Most> &block, uint32_t slot, FoldCounts &counts) {
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
    FoldLine<Most> line = read_line<Most>(a, text, pair, slot);
    if (!line.readable || pair.length > a.longest_line) {
        ++counts.unreadable;
        return;
    }
    HD_UNROLL
    for (uint32_t field = 0; field < Most; ++field)
        if (field < a.form.value.count)
            line.numbers.number[field] = ordered(a.form.ops[field], a.form.value.readers[field], line.numbers.number[field]);
    const KeySlots slots{a.arena, a.pairs};
    if (block.fold(slots, a.form, line.key, line.numbers)) return;
    if (!fold_into_table(slots, a.table, a.form, line.key, line.numbers, counts.claimed)) atomicExch(&a.words->overflow, 1ull);
}

// What the block's table holds goes to the table of all.
template <uint32_t Most>
HD_DEVICE void flush_place(const FoldArgs &a, const FoldBlock<Most> &block, uint32_t place, FoldCounts &counts) {
    const uint64_t id = block.ids[place];
    if (id == 0) return;
    const KeySlots slots{a.arena, a.pairs};
    const FoldKey key = fold_key_of(slots, id);
    if (!fold_into_table(slots, a.table, a.form, key, block.numbers(a.form, place), counts.claimed))
        atomicExch(&a.words->overflow, 1ull);
}

// Values of up to `Most` numbers.
template <uint32_t Most> HD_DEVICE void fold_pairs(const FoldArgs &a) {
    HD_SHARED(FoldBlock<Most>, block);
    HD_SHARED(BlockCounts, counted);
    block.start(a.form);
    if (threadIdx.x == 0) counted.start();
    __syncthreads();
    FoldCounts counts;
    for (uint64_t i = grid_thread(); i < a.slots; i += grid_threads()) fold_pair(a, block, static_cast<uint32_t>(i), counts);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < block.places; i += blockDim.x) flush_place(a, block, i, counts);
    counted.add(counts);
    __syncthreads();
    if (threadIdx.x == 0) counted.give(a.words);
}

HD_DEVICE void merge_place(const FoldMergeArgs &a, uint64_t i, uint64_t &claimed) {
    const uint64_t id = a.ids[i];
    if (id == 0) return;
    FoldNumbers<most_values> numbers;
    HD_UNROLL
    for (uint32_t field = 0; field < most_values; ++field)
        numbers.number[field] = field < a.form.value.count ? a.values[i * a.form.value.count + field] : 0;
    const KeySlots slots{a.arena, a.pairs};
    if (!fold_into_table(slots, a.table, a.form, fold_key_of(slots, id), numbers, claimed)) atomicExch(&a.words->overflow, 1ull);
}

}  // namespace hd

extern "C" __global__ void hd_fold_merge(const hd::FoldMergeArgs a) {
    HD_SHARED(hd::Halves, claimed);
    if (threadIdx.x == 0) claimed = {0, 0};
    __syncthreads();
    uint64_t mine = 0;
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) hd::merge_place(a, i, mine);
    claimed.add(mine);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&a.words->distinct, static_cast<unsigned long long>(claimed.whole()));
}
HD_KERNEL(hd_fold_merge, hd::FoldMergeArgs)

extern "C" __global__ void hd_fold_clear(const hd::FoldClearArgs a) {
    const uint64_t places = static_cast<uint64_t>(a.table.mask) + 1;
    for (uint64_t i = hd::grid_thread(); i < places; i += hd::grid_threads()) {
        a.table.ids[i] = 0;
        for (uint32_t field = 0; field < a.form.value.count; ++field)
            a.table.values[i * a.form.value.count + field] = hd::identity(a.form.ops[field]);
    }
}
HD_KERNEL(hd_fold_clear, hd::FoldClearArgs)

extern "C" __global__ void hd_fold(const hd::FoldArgs a) { hd::fold_pairs<1>(a); }
HD_KERNEL(hd_fold, hd::FoldArgs)

extern "C" __global__ void hd_fold_4(const hd::FoldArgs a) { hd::fold_pairs<4>(a); }
HD_KERNEL(hd_fold_4, hd::FoldArgs)

extern "C" __global__ void hd_fold_8(const hd::FoldArgs a) { hd::fold_pairs<hd::most_values>(a); }
HD_KERNEL(hd_fold_8, hd::FoldArgs)
