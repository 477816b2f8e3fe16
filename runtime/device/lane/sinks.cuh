// Where a lane's text and pairs go: room in the arena and slots of the pairs array. Two ways to hand them out.
//
// BlockCursor (default): a block takes bounded chunks of both, its lanes share them through cursors in shared memory, so
// that neighbouring lanes write to neighbouring bytes. ThreadArea (the paper, section 4.1): every thread has slots of its
// own of a fixed size; WarpArea: every warp, of which one thread works. All work in any control flow. Where there is no room left the lane ends with Status::arena_full or
// pairs_full.
#pragma once

#include "lane/cursor.cuh"
#include "lane/items.cuh"
#include "steps/kernels.h"

namespace hd {

struct Cursors {
    Cursor32<arena_chunk, 22> text;
    Cursor32<slot_chunk, 12> slots;
};

struct BlockCursor {
    // By thread 0 of the block, before a barrier.
    static HD_DEVICE void start_block() {
        Cursors &shared = cursors();
        shared.text.start();
        shared.slots.start();
    }

    // Room for `size` bytes of text, at least 1, in whole words: at a multiple of 8.
    HD_DEVICE char *text(const Task &task, uint32_t item, uint64_t size) {
        const Whole arena = {task.out.arena_used, task.out.arena_size, Status::arena_full, task.failure};
        if (__builtin_expect(size > decltype(Cursors::text)::largest / 8 * 8, 0))
            return task.out.arena + take_apart(arena, item, size, 256);
        return task.out.arena + cursors().text.take(arena, item, static_cast<uint32_t>(size + 7) & ~7u);
    }

    HD_DEVICE Pair *slot(const Task &task, uint32_t item) {
        const Whole pairs = {task.out.pairs_used, task.out.pairs_size, Status::pairs_full, task.failure};
        return task.out.pairs + cursors().slots.take(pairs, item, 1);
    }

    // Bytes to ask text() for where `needed` are needed and `wished` would save asking again.
    HD_DEVICE uint64_t wish(const Task &, uint64_t wished, uint64_t) const { return wished; }

    // Bytes that may be written at `at`, which lies in room given by text(), `length` before the end that was asked for.
    HD_DEVICE uint64_t room(const Task &, const char *, uint64_t length) const { return length; }

    // After the thread's last item.
    HD_DEVICE void close(const Task &) const {}

 private:
    static HD_DEVICE Cursors &cursors() {
        HD_SHARED(Cursors, cursors_of_block);
        return cursors_of_block;
    }
};

// Area a, of `Threads` threads, owns slots [a * slots_per_thread, (a + 1) * slots_per_thread) of the pairs array and as
// many places of slot_bytes, a multiple of 8, in the arena. The `used` counters stay 0.
template <uint32_t Threads> struct Area {
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

    HD_DEVICE void close(const Task &task) const {
        if (task.area_slots && threadIdx.x % Threads == 0) task.area_slots[area()] = slots;
    }

 private:
    static HD_DEVICE uint64_t area() { return (static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / Threads; }
    static HD_DEVICE uint64_t first(const Task &task) { return area() * task.slots_per_thread; }
};

using ThreadArea = Area<1>;
using WarpArea = Area<warp_threads>;  // with OnePerWarp: only the warp's first thread may print

}  // namespace hd
