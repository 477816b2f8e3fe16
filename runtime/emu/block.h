// A block of lanes and how they take turns. One block at a time runs, on the thread that launched it.
//
// A lane runs until it must wait (collective, barrier), an atomic operation lets others run, or it ends. Who is next:
// forward = the next ready lane, reverse = the one before, both around; random = any, by seed. Lanes switch to each other
// directly; they go through Block::run only to end, to fail, or when no lane is ready.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "launch.h"
#include "stack.h"

struct uint3 {
    unsigned x, y, z;
};

namespace hd_emu __attribute__((visibility("hidden"))) {

constexpr unsigned warp_lanes = 32, largest_block = 1024;

enum class Op : uint8_t {
    syncwarp, shfl, shfl_up, shfl_down, shfl_xor, ballot, any, all, match_any,
    syncthreads, syncthreads_count, syncthreads_and, syncthreads_or,
};

inline const char *name_of(Op op) {
    constexpr const char *names[] = {
        "__syncwarp", "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync", "__ballot_sync",
        "__any_sync", "__all_sync", "__match_any_sync", "__syncthreads", "__syncthreads_count", "__syncthreads_and",
        "__syncthreads_or",
    };
    return names[static_cast<int>(op)];
}

struct Place {
    const char *file;
    unsigned line;

    bool operator==(const Place &other) const {
        return line == other.line && (file == other.file || std::strcmp(file, other.file) == 0);
    }
};

// What a lane waits for and brings along. `result` is written when the group is released: what the lane then reads cannot
// be what another, quicker lane has brought to its next collective.
struct Wait {
    Op op;
    uint32_t mask;      // of warp collectives; of barriers 0
    uint32_t argument;  // shuffles: source lane or distance
    uint32_t width;     // shuffles: lanes of a segment
    uint64_t value, result;
    Place place;
};

enum class State : uint8_t { ready, waiting, returned, gone };  // gone: by hd_emu_exit_lane

struct Block;

struct Lane {
    uint3 thread;
    uint32_t number;  // in the block
    State state;
    Block *block;
    Stack *stack;     // nullptr before it first runs
    Context context;
    Wait wait;

    unsigned in_warp() const { return number % warp_lanes; }
    uint32_t bit() const { return 1u << in_warp(); }
};

// Lanes of a warp that have come to the same collective with the same mask.
struct Group {
    Op op;
    uint32_t mask, arrived;
};

struct Warp {
    Lane *lanes;
    uint32_t present;  // the last warp of a block may be smaller
    uint32_t ended;
    unsigned n_groups;
    Group groups[warp_lanes];
};

void give_results(Warp &warp, const Group &group);  // warp.h

struct Random {
    uint64_t state;

    uint32_t next() {  // splitmix64
        uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return static_cast<uint32_t>((z ^ z >> 31) >> 32);
    }
    uint32_t below(uint32_t n) { return static_cast<uint32_t>(static_cast<uint64_t>(next()) * n >> 32); }
};

struct Kernel {
    const char *name;
    void (*call)(void **args);
    Kernel *next;
};

// An object in block-shared memory. Each is an allocation of its own, so that AddressSanitizer sees its end.
struct SharedObject {
    void *memory;
    size_t bytes;
};

constexpr unsigned most_shared_objects = 64;
constexpr size_t most_shared_bytes = 227u << 10;  // of a block, on sm_90

struct Block {
    // The launch.
    hd_emu_config config;
    const Kernel *kernel;
    void **args;
    char *error;
    uint64_t error_size;
    StackPool *pool;
    uint3 grid, dim, index;
    SharedObject shared[most_shared_objects];  // the first is the dynamic one
    size_t shared_bytes;
    Random random;

    // The block that runs.
    Lane *lanes;
    Warp *warps;
    unsigned n_lanes, n_warps;
    Lane *running;   // nullptr: Block::run itself
    Lane *finished;  // has ended; its stack is still to be given back
    bool failed;
    Context main;
    unsigned cursor;  // of the order: who ran last
    unsigned n_ready, n_gone, n_returned;
    uint64_t ready[largest_block / 64];
    unsigned at_barrier;       // lanes that wait there
    uint32_t barrier_sum;      // of them, with a predicate that is true
    Wait first_at_barrier;
    unsigned until_yield;  // half atomic operations until the next one lets others run
    uint64_t idle;         // atomic operations since something changed

    // ---- turns (block_run.h)
    void start();
    void run();
    Lane &pick();
    void go(Lane &to, Context &from, bool ends);
    void leave(Lane &me);  // to another lane; returns when `me` runs again
    void yield();
    [[noreturn]] void end(Lane &me, State how);

    void make_ready(Lane &lane) {
        lane.state = State::ready;
        ready[lane.number / 64] |= 1ull << lane.number % 64;
        ++n_ready;
    }
    void make_waiting(Lane &lane) {
        lane.state = State::waiting;
        ready[lane.number / 64] &= ~(1ull << lane.number % 64);
        --n_ready;
        idle = 0;
    }

    // ---- groups of lanes (groups.h)
    uint64_t collective(Lane &me, const Wait &wait);
    uint32_t barrier(Lane &me, const Wait &wait);
    void release_barrier();
    void check_end(Lane &me);

    // ---- errors (report.h)
    void vreport(const Lane *lane, const char *format, va_list arguments);
    __attribute__((format(printf, 3, 4))) void report(const Lane *lane, const char *format, ...);
    [[noreturn]] __attribute__((format(printf, 3, 4))) void fail(Lane &me, const char *format, ...);
    void append_waiting();
};

}  // namespace hd_emu
