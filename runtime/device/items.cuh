// Which work items a thread takes: the choices between which a generated kernel's text names one.
#pragma once

#include "abi.h"
#include "base.cuh"

namespace hd {

constexpr uint32_t warp_threads = 32;

// One counter for the whole launch (default): no thread is idle while any item is left.
struct GlobalItems {
    // By thread 0 of the block, before a barrier.
    static HD_DEVICE void start_block() {}

    // The place of the item in the order of items; task.items or more: none is left for this thread.
    static HD_DEVICE uint32_t take(const Task &task) { return atomicAdd(task.next, 1u); }
};

// The paper's record stealing (section 4.1): every block has an equal share of the items from the start, and its threads
// take them one by one through a counter in shared memory.
struct BlockItems {
    static HD_DEVICE void start_block() { taken_by_block() = 0; }

    static HD_DEVICE uint32_t take(const Task &task) {
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
    static HD_DEVICE void start_block() { Items::start_block(); }

    static HD_DEVICE uint32_t take(const Task &task) {
        return threadIdx.x % warp_threads == 0 ? Items::take(task) : task.items;
    }
};

}  // namespace hd
