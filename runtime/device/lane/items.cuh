// Which work items a thread takes: the choices between which a generated kernel's text names one.
#pragma once

#include "steps/abi.h"
#include "lane/base.cuh"

namespace hd {

constexpr uint32_t warp_threads = 32;

// One counter for the whole launch (default): no thread is idle while any item is left.
//
// But for the longest (Task::long_bytes): the threads of a warp go through texts of their own side by side, and all wait
// whenever one of them waits for memory. With thousands of bytes to go that is nearly always, and the launch ends when the
// longest is done. So each of the longest is taken by one thread of a warp, whose others wait until it is done.
struct GlobalItems {
    bool fresh = true, alone = false;

    // By thread 0 of the block, before a barrier.
    static HD_DEVICE void start_block() {}

    // The place of the item in the order of items; task.items or more: none is left for this thread.
    HD_DEVICE uint32_t take(const Task &task) {
        if (task.long_bytes && meet(task)) return warp();
        uint32_t taken = atomicAdd(task.next, 1u);
        while (is_alone(task, taken)) taken = atomicAdd(task.next, 1u);
        return taken;
    }

 private:
    // True: this thread is the one that begins with the item that the warp begins with. The others wait for it here.
    HD_DEVICE bool meet(const Task &task) {
        const bool begins = fresh && is_alone(task, warp());
        const bool waits = alone || (begins && threadIdx.x % warp_threads != 0);
        alone = begins && !waits;
        fresh = false;
        if (waits) __syncwarp();
        return alone;
    }

    static HD_DEVICE uint32_t warps_of_block() { return (blockDim.x + warp_threads - 1) / warp_threads; }
    static HD_DEVICE uint32_t warp() { return blockIdx.x * warps_of_block() + threadIdx.x / warp_threads; }

    // Does the warp of this number begin with the item at this place, alone? At most half of all warps do.
    static HD_DEVICE bool is_alone(const Task &task, uint32_t place) {
        if (!task.long_bytes || place >= task.items || place >= gridDim.x * warps_of_block() / 2) return false;
        return task.in.length[task.order[place]] >= task.long_bytes;
    }
};

// The paper's record stealing (section 4.1): every block has an equal share of the items from the start, and its threads
// take them one by one through a counter in shared memory.
struct BlockItems {
    static HD_DEVICE void start_block() { taken_by_block() = 0; }

    HD_DEVICE uint32_t take(const Task &task) {
        const uint32_t first = share(task, blockIdx.x), size = share(task, blockIdx.x + 1) - first;
        const uint32_t taken = atomicAdd(&taken_by_block(), 1u);
        return taken < size ? first + taken : task.items;
    }

 private:
    static HD_DEVICE unsigned int &taken_by_block() {
        HD_SHARED(unsigned int, items_of_block);
        return items_of_block;
    }

    // Where the items of a block begin.
    static HD_DEVICE uint32_t share(const Task &task, uint32_t block) {
        return static_cast<uint32_t>(static_cast<uint64_t>(task.items) * block / gridDim.x);
    }
};

// One thread of each warp works (the paper's combine kernels, section 4.2, where neither key nor value is an array).
template <class Items> struct OnePerWarp {
    Items items;

    static HD_DEVICE void start_block() { Items::start_block(); }

    HD_DEVICE uint32_t take(const Task &task) {
        return threadIdx.x % warp_threads == 0 ? items.take(task) : task.items;
    }
};

}  // namespace hd
