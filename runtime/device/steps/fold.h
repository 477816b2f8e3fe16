// The kernels of fold.cuh: pairs of equal keys brought together by hash tables, before anything is sorted. No code.
//
// For a combiner that is a recognised fold whose output may be its input again (design: "fold"): one line per key, each
// number of its value the fold of the key's numbers, does for the combiner what the key's lines do. Every pair is looked at
// as hd_audit does; where one does not read back, or there is text for stderr, what was folded must not be used.
//
// 1. hd_fold_clear -> ids, values. *words 0.
//      hd_fold (of one number), hd_fold_4, hd_fold_8 (of up to so many) -> ids, values, words. words->overflow: the table
//      was too small, again with a larger one.
//    Where the map kernel folded pairs itself (abi.h: TaskFold, cleared by hd_fold_clear), and there are others:
//      hd_fold_merge -> ids, values, words, before hd_fold.
// 2. flags: hd_fold_flags -> flags[capacity]; select -> chosen[distinct]
//      hd_fold_sizes -> sizes[distinct]; scan -> offset[distinct + 1]
//      hd_fold_lines -> text at to + base, pairs first ... first + distinct - 1
#pragma once

#include "audit.h"

namespace hd {

// The numbers of hd_hash_fold in runtime/host/task/gpu_api.h, less 1.
enum class FoldOp : uint32_t { sum = 0, least = 1, greatest = 2, bits_and = 3, bits_or = 4, bits_xor = 5 };

// What hd_fold found in the slots; `bytes` and `unreadable` as hd_audit counts them.
struct FoldWords {
    unsigned long long pairs, bytes, unreadable, errors, distinct, overflow;
};

// What becomes of the numbers of a key's values: their form says how many there are.
struct FoldForm {
    ValueForm value;
    FoldOp ops[most_values];
};

// A table of `mask` + 1 places, a power of two. ids[i]: 0 = free; else the key, see fold_table.cuh. The fold so far of the
// place's numbers: values[i * count ... ), of numbers of 32 bits the low halves alone.
struct FoldTable {
    unsigned long long *ids;
    unsigned long long *values;
    uint32_t mask;
    uint32_t reserved;
};

struct FoldClearArgs {
    FoldTable table;
    FoldForm form;
};

struct FoldArgs {
    const char *arena;
    const Pair *pairs;
    FoldTable table;
    FoldWords *words;
    uint64_t longest_line;       // a longer one is taken for one that does not read back: hd_audit looks again
    uint64_t longest_key, none;  // as AuditArgs, down to `key`
    uint32_t has_none;
    KeyReader key;
    FoldForm form;
    uint32_t slots;
    uint32_t reserved;
};

// hd_fold_merge: ids and values [0, count) of another table, which a map kernel made, into this one. Counts `distinct` and
// `overflow`.
struct FoldMergeArgs {
    const char *arena;
    const Pair *pairs;
    FoldTable table;
    FoldWords *words;
    const unsigned long long *ids;
    const unsigned long long *values;
    uint64_t count;
    FoldForm form;
};

struct FoldFlagsArgs {
    const unsigned long long *ids;
    uint8_t *flags;
    uint64_t count;  // of places
};

// The lines of the places chosen[0 ... count): key, tab, the numbers in decimal with their bytes between.
struct FoldLinesArgs {
    const char *arena;  // that was folded
    const Pair *pairs;
    FoldTable table;
    const uint32_t *chosen;
    uint32_t *sizes;
    const uint64_t *offset;
    char *to;
    Pair *lines;
    uint64_t base;   // of the text; a multiple of 8
    uint32_t first;  // line
    uint32_t count;
    FoldForm form;
};

}  // namespace hd
