// Lanes that wait for each other: warp collectives and the block's barrier, and what is wrong with those that never meet.
#pragma once

#include "block.h"

namespace hd_emu __attribute__((visibility("hidden"))) {

// A lane that has ended can never come: that is found at once, here and in check_end. Lanes that wait elsewhere may still
// come (after another group of theirs); that they never do is found when no lane can go on.
inline __attribute__((noinline)) uint64_t Block::collective(Lane &me, const Wait &wait) {
    Warp &warp = warps[me.number / warp_lanes];
    const uint32_t wanted = wait.mask & warp.present;
    if (!(wait.mask & me.bit()))
        fail(me, "calls %s (%s:%u) with mask 0x%08x, which leaves the lane itself out", name_of(wait.op), wait.place.file,
             wait.place.line, wait.mask);
    if (wanted & warp.ended)
        fail(me, "calls %s (%s:%u) with mask 0x%08x, but lanes 0x%08x of the warp have ended", name_of(wait.op),
             wait.place.file, wait.place.line, wait.mask, wanted & warp.ended);
    Group *group = warp.groups, *const stop = group + warp.n_groups;
    while (group != stop && (group->op != wait.op || group->mask != wait.mask)) ++group;
    if (group == stop) {
        ++warp.n_groups;
        *group = {wait.op, wait.mask, 0};
    }
    group->arrived |= me.bit();
    me.wait = wait;
    make_waiting(me);
    if (group->arrived == wanted) {
        const Group complete = *group;
        *group = warp.groups[--warp.n_groups];
        give_results(warp, complete);
        for (uint32_t rest = complete.arrived; rest; rest &= rest - 1) make_ready(warp.lanes[__builtin_ctz(rest)]);
    }
    leave(me);
    return me.wait.result;
}

// A lane that has left by hd_emu_exit_lane counts as arrived, as on a GPU; one that has returned from the kernel does not:
// a barrier that only some of the threads reach is a mistake, even where the hardware lets it pass.
inline __attribute__((noinline)) uint32_t Block::barrier(Lane &me, const Wait &wait) {
    if (n_returned)
        fail(me, "calls %s (%s:%u), but %u lanes of the block have returned from the kernel", name_of(wait.op),
             wait.place.file, wait.place.line, n_returned);
    me.wait = wait;
    make_waiting(me);
    if (at_barrier == 0) first_at_barrier = wait;
    if (wait.op != first_at_barrier.op || !(wait.place == first_at_barrier.place)) {
        report(&me, "waits at another barrier than other lanes of its block:");
        append_waiting();
        switch_stack(me.context, main, true);
    }
    ++at_barrier;
    barrier_sum += wait.value != 0;
    if (at_barrier + n_gone == n_lanes) release_barrier();
    leave(me);
    return static_cast<uint32_t>(me.wait.result);
}

inline void Block::release_barrier() {
    for (unsigned i = 0; i < n_lanes; ++i) {
        Lane &lane = lanes[i];
        if (lane.state != State::waiting) continue;  // it is gone
        const bool all = barrier_sum == at_barrier;
        lane.wait.result = lane.wait.op == Op::syncthreads_and ? all
                           : lane.wait.op == Op::syncthreads_or ? barrier_sum != 0
                                                                : barrier_sum;
        make_ready(lane);
    }
    at_barrier = barrier_sum = 0;
}

// `me` has just ended: does anybody wait for it?
inline void Block::check_end(Lane &me) {
    const Warp &warp = warps[me.number / warp_lanes];
    for (unsigned g = 0; g < warp.n_groups; ++g)
        if (warp.groups[g].mask & me.bit())
            fail(me, "has ended, but lanes 0x%08x of its warp wait for it at %s with mask 0x%08x", warp.groups[g].arrived,
                 name_of(warp.groups[g].op), warp.groups[g].mask);
    if (at_barrier == 0) return;
    if (me.state == State::returned) fail(me, "has returned from the kernel, but %u lanes wait at a barrier", at_barrier);
    if (at_barrier + n_gone == n_lanes) release_barrier();
}

}  // namespace hd_emu
