// Kernels by name and their launch (launch.h): a grid's blocks one after the other.
#pragma once

#include <new>
#include <type_traits>
#include <utility>

#include "block_run.h"
#include "faults.h"
#include "groups.h"
#include "memory.h"
#include "report.h"
#include "atomics.h"

namespace hd_emu __attribute__((visibility("hidden"))) {

inline Kernel *first_kernel = nullptr;

template <class... Argument> struct Call {
    template <void (*kernel)(Argument...)> static void with(void **args) {
        expand<kernel>(args, std::index_sequence_for<Argument...>());
    }
    template <void (*kernel)(Argument...), size_t... i>
    static void expand([[maybe_unused]] void **args, std::index_sequence<i...>) {
        static_assert((... && std::is_trivially_copyable_v<Argument>), "kernel arguments are copied byte by byte");
        kernel(*static_cast<const Argument *>(args[i])...);
    }
};

struct Registration {
    Kernel kernel;

    Registration(const char *name, void (*call)(void **)) : kernel{name, call, first_kernel} { first_kernel = &kernel; }
};

// The order of blocks follows that of lanes; random: i -> (factor * i + first) mod n, factor without a common divisor.
struct BlockOrder {
    uint64_t n, factor, first;

    BlockOrder(uint64_t blocks, uint32_t order, Random &random) : n(blocks), factor(1), first(0) {
        if (order == HD_EMU_REVERSE) factor = n - 1, first = n - 1;
        if (order != HD_EMU_RANDOM) return;
        first = random.next() % n;
        do factor = 1 + random.next() % n;
        while (divisor(factor, n) != 1);
    }
    uint64_t at(uint64_t i) const { return static_cast<uint64_t>((static_cast<unsigned __int128>(factor) * i + first) % n); }

 private:
    static uint64_t divisor(uint64_t a, uint64_t b) { return b ? divisor(b, a % b) : a; }
};

// What a launch allocates besides stacks.
class Launch {
 public:
    Launch(const hd_emu_config &config, const Kernel &kernel, void **args, char *error, uint64_t error_size) {
        block.config = config;
        block.kernel = &kernel;
        block.args = args;
        block.error = error;
        block.error_size = error_size;
        block.random.state = config.seed;
        const size_t wanted = config.stack_bytes ? config.stack_bytes : largest_stack;
        block.pool = idle_pool.take(wanted < smallest_stack ? smallest_stack : wanted);
        if (block.config.spin_limit == 0) block.config.spin_limit = usual_spin_limit;
    }
    Launch(const Launch &) = delete;
    Launch &operator=(const Launch &) = delete;
    ~Launch() {
        free_shared(block);
        delete[] block.lanes;
        delete[] block.warps;
        if (block.failed) delete block.pool;  // lanes that will never end still have stacks of it
        else idle_pool.give(block.pool);
    }

    void shape(const uint32_t grid[3], const uint32_t dim[3]);
    void run();

    Block block{};
};

inline void Launch::shape(const uint32_t grid[3], const uint32_t dim[3]) {
    block.grid = {grid[0], grid[1], grid[2]};
    block.dim = {dim[0], dim[1], dim[2]};
    block.n_lanes = dim[0] * dim[1] * dim[2];
    block.n_warps = (block.n_lanes + warp_lanes - 1) / warp_lanes;
    block.lanes = new Lane[block.n_lanes]();
    block.warps = new Warp[block.n_warps]();
    for (unsigned i = 0; i < block.n_lanes; ++i) {
        Lane &lane = block.lanes[i];
        lane.number = i;
        lane.thread = {i % dim[0], i / dim[0] % dim[1], i / dim[0] / dim[1]};
        lane.block = &block;
        Warp &warp = block.warps[i / warp_lanes];
        if (i % warp_lanes == 0) warp.lanes = &lane;
        warp.present |= lane.bit();
    }
}

inline void Launch::run() {
    const CatchFaults catcher(block);
    const uint64_t width = block.grid.x, layer = width * block.grid.y, blocks = layer * block.grid.z;
    const BlockOrder order(blocks, block.config.order, block.random);
    for (uint64_t i = 0; i < blocks && !block.failed; ++i) {
        const uint64_t at = order.at(i);
        block.index = {static_cast<unsigned>(at % width), static_cast<unsigned>(at / width % block.grid.y),
                       static_cast<unsigned>(at / layer)};
        for (const SharedObject &object : block.shared) fill_shared(block, object);
        block.run();
    }
}

// nullptr, or why the launch is impossible.
inline const char *refusal(const hd_emu_config *config, const uint32_t grid[3], const uint32_t dim[3],
                           uint64_t shared_bytes) {
    const uint64_t lanes = static_cast<uint64_t>(dim[0]) * dim[1], blocks = static_cast<uint64_t>(grid[0]) * grid[1];
    if (config->version != HD_EMU_VERSION) return "hd_emu_config has another version";
    if (config->order > HD_EMU_RANDOM) return "unknown order of lanes";
    if (config->stack_bytes > largest_stack) return "a lane's stack can have 512 KiB";
    if (lanes == 0 || dim[2] == 0) return "a block of no threads";
    if (lanes > largest_block || lanes * dim[2] > largest_block) return "a block can have 1024 threads";
    if (blocks == 0 || grid[2] == 0) return "a grid of no blocks";
    if (grid[0] > 0x7fffffffu || grid[1] > 65535 || grid[2] > 65535) return "too many blocks";
    if (shared_bytes > most_shared_bytes) return "more dynamic shared memory than a block can have";
    return nullptr;
}

}  // namespace hd_emu

#define HD_KERNEL(name, ...) \
    static ::hd_emu::Registration name##_registration(#name, &::hd_emu::Call<__VA_ARGS__>::template with<&name>);

extern "C" inline __attribute__((used, visibility("default")))
int hd_emu_launch(const hd_emu_config *config, const char *kernel, const uint32_t grid[3], const uint32_t block[3],
                  uint64_t shared_bytes, void **args, char *error, uint64_t error_size) {
    hd_emu::Text text(error, error_size);
    text.add("%s", "");
    const hd_emu::Kernel *found = hd_emu::first_kernel;
    while (found && std::strcmp(found->name, kernel) != 0) found = found->next;
    if (!found) {
        text.add("emulated device: the module has no kernel %s", kernel);
        return HD_EMU_UNKNOWN_KERNEL;
    }
    const char *why = hd_emu::refusal(config, grid, block, shared_bytes);
    if (why) {
        text.add("emulated device: kernel %s, grid (%u,%u,%u), block (%u,%u,%u): %s", kernel, grid[0], grid[1], grid[2],
                 block[0], block[1], block[2], why);
        return HD_EMU_DEVICE_ERROR;
    }
    try {
        hd_emu::Launch launch(*config, *found, args, error, error_size);
        launch.shape(grid, block);
        if (!hd_emu::add_shared(launch.block, 0, shared_bytes, 16)) launch.block.report(nullptr, "no memory");
        launch.run();
        return launch.block.failed ? HD_EMU_DEVICE_ERROR : HD_EMU_OK;
    } catch (const std::bad_alloc &) {
        text.add("emulated device: kernel %s: no memory for its lanes", kernel);
        return HD_EMU_DEVICE_ERROR;
    }
}

// Ends the calling lane, however deep in calls: what exit does in PTX.
[[noreturn]] inline void hd_emu_exit_lane() {
    hd_emu::Lane &me = hd_emu::current();
    me.block->end(me, hd_emu::State::gone);
}
