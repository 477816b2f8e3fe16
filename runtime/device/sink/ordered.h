// The kernels of a combiner that is an ordered key loop (decision 0025): its steps happen pair by pair, in the order of the
// reference. Some are made of the combiner (hd_combine...: sink/ordered.cuh, compiler/emit/ordered.py), the others are the runtime's
// own (ordered_keys.cuh). No code.
//
// The keys of a task are numbered as they come. What is kept of them stays on the device from sub-split to sub-split: their
// texts, and the combiner's state. Of the pairs of a sub-split, slots[count] of its store:
//
//   1. hd_combine_values -> columns, places, words: each pair read, its key's place in the table found, or claimed for it.
//      words->overflow: the table is too small. A larger one: words 0, hd_keys_insert of the keys that are kept, again.
//   2. Order by (key's number, record, sequence): keys = hd_ordered_sequences, sort; keys = hd_ordered_keys, sort.
//      hd_ordered_starts -> flags[count]; select -> starts[runs], starts[runs] = count
//      hd_combine_gather -> columns in that order
//   3. hd_keys_sizes -> sizes[new]; scan -> offset[new + 1]; hd_keys_keep -> texts of new keys
//      hd_ordered_long -> flags[runs]; select -> chosen[long]
//   4. hd_combine: a thread for each run of a key that is not long. hd_combine_long: a warp for each of the others
//
// and at the end hd_combine_sizes, scan, hd_combine_lines: a line for each key.
#pragma once

#include "../steps/abi.h"

namespace hd {

// A table of mask + 1 places, a power of two. words[i]: 0 = free; else in use, whether the key is kept (or lies in a slot of the
// sub-split's store), 30 bits of its hash, and its number or slot. numbers[i]: the key's, of a place in use.
struct KeyTable {
    unsigned long long *words;
    uint32_t *numbers;
    uint32_t mask;
    uint32_t reserved;
};

constexpr uint32_t long_run = 512;  // pairs from which a warp does a key's
constexpr uint32_t no_item = 0xffffffffu;  // Failure::item where a key's line failed, and no pair
constexpr uint64_t key_used = 1ull << 63, key_kept = 1ull << 62;

// The first `count` keys of a task, by number: length[i] bytes at text + at[i], which is a multiple of 8.
struct KeptKeys {
    char *text;
    uint64_t *at;
    uint32_t *length;
    uint32_t count;
    uint32_t reserved;
};

// keys: the keys so far, from KeptKeys::count on.
struct OrderedWords {
    unsigned long long bytes;  // of pairs, as Hadoop counts them
    unsigned int keys, overflow, too_long, reserved;
    Failure failure;
};

// Fields of pairs: those at place k of all values begin at memory + 8 * k * count, a number each of its own size, of a text where it
// lies in the store that begins at `arena` (ordered_texts.cuh).
struct Columns {
    char *memory;
    uint64_t count;
    const char *arena;
};

struct ReadPairsArgs {
    const char *arena;
    const Pair *pairs;
    const uint32_t *slots;
    KeyTable table;
    KeptKeys kept;
    OrderedWords *words;
    uint32_t *places;
    uint32_t *new_slots;   // of the key of number kept.count + i: a pair that has it,
    uint32_t *new_places;  // and its place
    Columns columns;
    uint64_t longest_line;
    uint32_t count;
    uint32_t reserved;
};

// keys[i], to sort the pair of[i] by: its sequence number, or its key's number << item_bits | its record.
struct OrderedKeysArgs {
    const Pair *pairs;
    const uint32_t *slots;
    const uint32_t *places;
    const uint32_t *numbers;
    const uint32_t *of;
    uint64_t *keys;
    uint32_t count;
    uint32_t item_bits;
};

// flags[i]: a key's pairs begin here, in the order of the sorted `keys`.
struct OrderedStartsArgs {
    const uint64_t *keys;
    uint8_t *flags;
    uint32_t count;
    uint32_t item_bits;
};

// flags[r]: the run is a long one.
struct LongRunsArgs {
    const uint32_t *starts;
    uint8_t *flags;
    uint32_t runs;
    uint32_t reserved;
};

// to[i] = from[of[i]]
struct GatherColumnsArgs {
    Columns from, to;
    const uint32_t *of;
};

// Inserts the keys that are kept into a table, which has room for them.
struct InsertKeysArgs {
    KeyTable table;
    KeptKeys kept;
};

// hd_keys_sizes: sizes[i] of the text of the new key i. hd_keys_keep: its text to `kept` at base + offset[i], and its word in the
// table made that of a key that is kept.
struct KeepKeysArgs {
    const char *arena;
    const Pair *pairs;
    KeyTable table;
    KeptKeys kept;  // with room for the new ones; `count` without them
    const uint32_t *new_slots;
    const uint32_t *new_places;
    uint32_t *sizes;
    const uint64_t *offset;
    uint64_t base;
    uint32_t count;
    uint32_t reserved;
};

// The pairs starts[r] ... starts[r + 1] - 1 are those of the key keys[starts[r]] >> item_bits. `states`: what is kept of the
// first `known` keys, and room for the others, each of the same size.
struct ChainArgs {
    Columns columns;
    const uint64_t *keys;
    const uint32_t *starts;
    char *states;
    const Pair *pairs;       // these three: of which record a pair is
    const uint32_t *slots;
    const uint32_t *of;
    const uint32_t *chosen;  // hd_combine_long: the runs, of which there are `runs`
    OrderedWords *words;
    uint32_t runs;
    uint32_t known;
    uint32_t item_bits;
    uint32_t reserved;
};

// hd_combine_sizes: sizes[i] of the line of key i, a multiple of 8; 0 where it has none. hd_combine_lines: the line, at
// to + offset[i].
struct FinishArgs {
    KeptKeys kept;
    const char *states;
    uint32_t *sizes;
    const uint64_t *offset;
    char *to;
    Pair *lines;
    OrderedWords *words;
    uint64_t longest_line;  // too_long where a line has more bytes
};

}  // namespace hd
