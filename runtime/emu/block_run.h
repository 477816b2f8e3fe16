// Turns: which lane runs next, how lanes begin and end, the loop that a block runs in.
#pragma once

#include "block.h"

namespace hd_emu __attribute__((visibility("hidden"))) {

inline void lane_entry() {
    Lane &me = current();
    Block &block = *me.block;
#ifdef HD_EMU_ASAN
    const void *low;
    size_t size;
    __sanitizer_finish_switch_fiber(nullptr, &low, &size);
    if (block.main.size == 0) block.main.low = low, block.main.size = size;  // the first lane comes from Block::run
#endif
    block.kernel->call(block.args);
    block.end(me, State::returned);
}

inline void Block::start() {
    n_ready = n_gone = n_returned = at_barrier = barrier_sum = 0;
    idle = 0;
    until_yield = 1 + random.below(16);
    running = finished = nullptr;
    for (unsigned w = 0; w < n_warps; ++w) warps[w].ended = warps[w].n_groups = 0;
    for (uint64_t &word : ready) word = 0;
    for (unsigned i = 0; i < n_lanes; ++i) {
        lanes[i].stack = nullptr;
        make_ready(lanes[i]);
    }
    cursor = config.order == HD_EMU_FORWARD ? n_lanes - 1 : 0;
}

inline void Block::run() {
    start();
    while (n_ready && !failed) {
        go(pick(), main, false);
        running = nullptr;
        if (finished) pool->give(finished->stack);
        finished = nullptr;
    }
    if (failed || n_gone + n_returned == n_lanes) return;
    report(nullptr, "no lane can go on:");
    append_waiting();
}

// The ready lane whose turn it is; there is one.
inline Lane &Block::pick() {
    const bool back = config.order == HD_EMU_REVERSE;
    const unsigned words = (n_lanes + 63) / 64;
    unsigned at = config.order == HD_EMU_RANDOM ? random.below(n_lanes)
                  : back                        ? (cursor ? cursor : n_lanes) - 1
                  : cursor + 1 == n_lanes       ? 0
                                                : cursor + 1;
    unsigned word = at / 64;
    uint64_t bits = ready[word] & (back ? ~0ull >> (63 - at % 64) : ~0ull << at % 64);
    while (bits == 0) {
        word = back ? (word ? word : words) - 1 : word + 1 == words ? 0 : word + 1;
        bits = ready[word];
    }
    cursor = word * 64 + static_cast<unsigned>(back ? 63 - __builtin_clzll(bits) : __builtin_ctzll(bits));
    return lanes[cursor];
}

inline void Block::go(Lane &to, Context &from, bool ends) {
    if (!to.stack) {
        to.stack = pool->take();
        if (!to.stack) {
            report(&to, "no memory for its stack");
            if (running) switch_stack(from, main, ends);
            return;
        }
        to.stack->lane = &to;
        start_on(to.context, *to.stack, pool->bytes, lane_entry);
    }
    running = &to;
    switch_stack(from, to.context, ends);
}

inline void Block::leave(Lane &me) {
    if (n_ready == 0) return switch_stack(me.context, main, false);
    Lane &next = pick();
    if (&next != &me) go(next, me.context, false);
}

// Others may run. `until_yield` is random in every order, so that two lanes in the same loop do not stay in step.
inline __attribute__((noinline)) void Block::yield() {
    until_yield = 1 + random.below(16);
    leave(*running);
}

inline void Block::end(Lane &me, State how) {
    make_waiting(me);
    me.state = how;
    ++(how == State::gone ? n_gone : n_returned);
    warps[me.number / warp_lanes].ended |= me.bit();
    check_end(me);
    finished = &me;
    switch_stack(me.context, main, true);
    __builtin_unreachable();
}

}  // namespace hd_emu
