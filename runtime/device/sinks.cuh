// Where a lane's text and pairs go: room in the arena and slots of the pairs array. Two ways to hand them out.
//
// BlockCursor (default): a block takes bounded chunks of both, its lanes share them through cursors in shared memory, so
// that neighbouring lanes write to neighbouring bytes. ThreadArea (the paper, section 4.1): every thread has slots of its
// own of a fixed size. Both work in any control flow. Where there is no room left the lane ends with Status::arena_full or
// pairs_full.
#pragma once

#include "failure.cuh"
#include "kernels.h"

namespace hd {

// A chunk and how much of it is used, in one word: base << 32 | used. Used only grows, also past the chunk's size: the
// lane whose request crosses the end (there is exactly one) fetches the next chunk, the others wait for it.
constexpr uint32_t cursor_none = 0xfffffffeu;    // no chunk yet: full from the start
constexpr uint32_t cursor_closed = 0xffffffffu;  // no room any more; goes with a `used` of 2^31

// `unit`: what the base counts. `used`, `size`: of what is handed out.
struct CursorKind {
    uint32_t chunk, unit;
    Status full;
    unsigned long long *used;
    uint64_t size;
};

HD_DEVICE unsigned long long cursor_word(uint64_t base, uint32_t used) { return base << 32 | used; }

// Straight from the whole, rounded up to units: for what is large against a chunk.
HD_NOINLINE uint64_t take_apart(CursorKind kind, uint64_t wanted, Failure *failure, uint32_t item) {
    const uint64_t rounded = (wanted + kind.unit - 1) / kind.unit * kind.unit;
    const uint64_t at = atomicAdd(kind.used, static_cast<unsigned long long>(rounded));
    if (at + rounded > kind.size) fail(failure, item, kind.full, 0);
    return at;
}

// The slow part of `take`: `old` is what the cursor was when `wanted` did not fit any more.
HD_NOINLINE uint64_t take_further(CursorKind kind, unsigned long long *cursor, unsigned long long old, uint32_t wanted,
                                  Failure *failure, uint32_t item) {
    for (;;) {
        const uint32_t base = static_cast<uint32_t>(old >> 32), used = static_cast<uint32_t>(old);
        if (base == cursor_closed) fail(failure, item, kind.full, 0);
        if (used + wanted <= kind.chunk) return static_cast<uint64_t>(base) * kind.unit + used;
        if (used <= kind.chunk) {
            const uint64_t at = atomicAdd(kind.used, static_cast<unsigned long long>(kind.chunk));
            const bool full = at + kind.chunk > kind.size;
            atomicExch(cursor, full ? cursor_word(cursor_closed, 1u << 31) : cursor_word(at / kind.unit, wanted));
            if (full) fail(failure, item, kind.full, 0);
            return at;
        }
        while (static_cast<uint32_t>(peek_word(cursor) >> 32) == base) {
#ifdef __CUDACC__
            __nanosleep(32);
#endif
        }
        old = atomicAdd(cursor, static_cast<unsigned long long>(wanted));
    }
}

HD_DEVICE uint64_t take(CursorKind kind, unsigned long long *cursor, uint32_t wanted, Failure *failure, uint32_t item) {
    const unsigned long long old = atomicAdd(cursor, static_cast<unsigned long long>(wanted));
    const uint32_t base = static_cast<uint32_t>(old >> 32), used = static_cast<uint32_t>(old);
    if (__builtin_expect(used + wanted <= kind.chunk, 1))
        return static_cast<uint64_t>(base) * kind.unit + used;
    return take_further(kind, cursor, old, wanted, failure, item);
}

struct Cursors {
    unsigned long long text, slots;
};

struct BlockCursor {
    // By thread 0 of the block, before a barrier.
    static HD_DEVICE void start_block() {
        Cursors &shared = cursors();
        shared.text = cursor_word(cursor_none, arena_chunk);
        shared.slots = cursor_word(cursor_none, slot_chunk);
    }

    // Room for `size` bytes of text, at least 1.
    HD_DEVICE char *text(const Task &task, uint32_t item, uint64_t size) {
        const CursorKind kind = {arena_chunk, 256, Status::arena_full, task.out.arena_used, task.out.arena_size};
        if (__builtin_expect(size > arena_chunk / 4, 0)) return task.out.arena + take_apart(kind, size, task.failure, item);
        return task.out.arena + take(kind, &cursors().text, static_cast<uint32_t>(size), task.failure, item);
    }

    HD_DEVICE Pair *slot(const Task &task, uint32_t item) {
        const CursorKind kind = {slot_chunk, 1, Status::pairs_full, task.out.pairs_used, task.out.pairs_size};
        return task.out.pairs + take(kind, &cursors().slots, 1, task.failure, item);
    }

    // Bytes to ask text() for where `needed` are needed and `wished` would save asking again.
    HD_DEVICE uint64_t wish(const Task &, uint64_t wished, uint64_t) const { return wished; }

    // Bytes that may be written at `at`, which lies in room given by text(), `length` before the end that was asked for.
    HD_DEVICE uint64_t room(const Task &, const char *, uint64_t length) const { return length; }

 private:
    static HD_DEVICE Cursors &cursors() {
        HD_SHARED(Cursors, cursors_of_block);
        return cursors_of_block;
    }
};

// Thread t owns slots [t * slots_per_thread, (t + 1) * slots_per_thread) of the pairs array and as many places of
// slot_bytes in the arena. The `used` counters stay 0.
struct ThreadArea {
    uint32_t texts = 0, slots = 0;  // used

    static HD_DEVICE void start_block() {}

    HD_DEVICE char *text(const Task &task, uint32_t item, uint64_t size) {
        if (size > task.slot_bytes) fail(task.failure, item, Status::arena_full, 0);
        if (texts == task.slots_per_thread) fail(task.failure, item, Status::pairs_full, 0);
        return task.out.arena + (first(task) + texts++) * task.slot_bytes;
    }

    HD_DEVICE Pair *slot(const Task &task, uint32_t item) {
        if (slots == task.slots_per_thread) fail(task.failure, item, Status::pairs_full, 0);
        return task.out.pairs + first(task) + slots++;
    }

    HD_DEVICE uint64_t wish(const Task &, uint64_t, uint64_t needed) const { return needed; }

    HD_DEVICE uint64_t room(const Task &task, const char *at, uint64_t) const {
        return task.slot_bytes - static_cast<uint64_t>(at - task.out.arena) % task.slot_bytes;
    }

 private:
    static HD_DEVICE uint64_t first(const Task &task) {
        return (static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * task.slots_per_thread;
    }
};

}  // namespace hd
