// What host and kernels pass to each other: plain structs, the same bytes for g++ and nvcc. No code.
//
// Data flow of a map task's sub-split: raw text -> record index -> staged records (RecordTable) -> map kernel -> Store
// -> sort -> staged pairs (again a RecordTable) -> combine kernel -> Store -> output. See docs/architecture.md.
#pragma once

#include <cstdint>

namespace hd {

// Records, staged so that C code can treat them as lines: record i is `length[i]` bytes at text + offset[i], then '\n',
// then '\0'; each starts at a multiple of 16 and may be written to. Offsets are 64 bit: a table may pass 4 GiB.
struct RecordTable {
    char *text;
    const uint64_t *offset;
    const uint32_t *length;
    uint32_t count;
};

constexpr uint32_t no_pair = 0xffffffffu;  // Pair::length of a reserved but unused slot
constexpr uint32_t to_stderr = 0x80000000u;  // in Pair::sequence: text for stderr, not a pair

// One line of output: `length` bytes at arena + at, its '\n' not counted; the key is the first `key_length` of them
// (all of them if there is no tab). (item, sequence) puts the lines of a launch in the order of the sequential program.
struct Pair {
    uint64_t at;
    uint32_t length;
    uint32_t key_length;
    uint32_t item;
    uint32_t sequence;
};

// Where kernels put their output. `used` counters only grow, also past the size: then the launch has failed with
// Status::arena_full or pairs_full, and the counters say (at least) how much room would have been needed.
struct Store {
    char *arena;
    uint64_t arena_size;
    unsigned long long *arena_used;
    Pair *pairs;
    uint64_t pairs_size;
    unsigned long long *pairs_used;
};

// Why a launch's output must not be used. The first two: run again with more room. All others: the task runs on the
// CPU, which decides what the program does.
enum class Status : uint32_t {
    ok = 0,
    arena_full,
    pairs_full,
    exit_called,       // exit, abort, a failed assert
    division,          // integer division by zero, or INT_MIN / -1
    unterminated,      // a record's output does not end in a newline
    carriage_return,   // output with \r, at which Hadoop cuts lines
    recursion,         // deeper than the device's stack allows
    unsupported,       // data that a device function does not treat exactly; `detail` says which
    key_too_long,      // reserved for fixed slots
    nan_sign,          // a NaN was printed whose sign only the CPU knows
    reader_stopped,    // scanf stopped before the end of a record
    outside_line,      // a line's buffer is read or written where its line is not
    unwritten,         // something is read that the record has not written (guard.cuh)
    overlap,           // a copy's source and target overlap
    outside_object,    // an access goes outside of its array, or of the object that its pointer leads to (extent.cuh)
    unreadable,        // host kernels: a pair does not read back through the combiner's reader
    no_room,           // host kernels: there are more keys than memory for them
    arena_used_up,     // a record allocates more than a thread has memory for (arena.cuh)
    no_function,       // a pointer to a function is called that leads to none of the program's
    not_allocated,     // something is freed that malloc did not give, or gave and got back
    left_early,        // the program leaves its record loop, although there may be more input
    reads_on,          // the program reads bytes behind the end of its line, which may be another lane's
    carried,           // a record leaves a variable with another value than each record is to find in it
};

// The first failure of a launch wins the word (compare and swap from ok); `item` and `detail` belong to it.
struct Failure {
    uint32_t status;
    uint32_t item;
    uint32_t detail;  // source line of the failing statement, or 0
    uint32_t reserved;
};

// What a map kernel folded itself. pairs, bytes: of what was folded, as hd_audit counts them; lines: that it wrote all the
// same; distinct: places of the table in use; spilled: keys behind it.
struct MapFoldWords {
    unsigned long long pairs, bytes, lines, distinct, spilled;
};

// Where a map kernel folds its pairs (lane/map_fold.cuh); ids null: it writes them all. A FoldTable (fold.h) of mask + 1
// places, and behind it room for `spill` keys that find none.
struct TaskFold {
    unsigned long long *ids;
    unsigned long long *values;
    MapFoldWords *words;
    uint64_t spill;
    uint32_t mask;
    uint32_t longest_line;  // bytes, the end included; longer ones are written
};

// One launch of a map or combine kernel. Work item i reads the records [begin[i], begin[i + 1]), or the record i alone
// where `begin` is null. `order` (may be null) is a permutation of the items: which one is taken when.
struct Task {
    RecordTable in;
    Store out;
    const uint32_t *begin;
    const uint32_t *order;
    uint32_t items;
    uint32_t slots_per_thread;  // sink ThreadArea only
    uint32_t slot_bytes;        // sink ThreadArea only; a multiple of 8
    uint32_t long_bytes;        // with `order`: length from which an item gets a warp to itself (items.cuh); 0: none does
    unsigned int *next;         // counter of taken items, 0 before the launch
    Failure *failure;           // status 0 before the launch
    uint32_t *area_slots;       // sink ThreadArea: how many slots of each area are used; may be null
    TaskFold fold;              // of a map kernel that folds
    void *totals;               // of a map kernel whose records gather (totals.cuh): what they have so far
};

}  // namespace hd
