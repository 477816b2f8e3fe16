// Warp collectives and barriers as kernels call them. Only the forms with a mask; what asks for the lanes that happen to
// run together (__activemask) has no meaning here and does not compile.
//
// Differences to a GPU, all of them stricter: a lane that has ended must not be named in a mask, not even one that left by
// hd_emu_exit_lane; lanes of a barrier must be at the same one in the text. Mask bits of lanes that the block does not have
// are ignored. A shuffle from a lane outside of the mask gives the private pattern.
#pragma once

#include "block.h"

#define HD_EMU_PLACE const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()

constexpr int warpSize = 32;

namespace hd_emu __attribute__((visibility("hidden"))) {

// The lane that a shuffle reads: its own where the source would lie outside of the segment.
inline unsigned shuffle_source(const Wait &wait, unsigned lane) {
    const unsigned first = lane & ~(wait.width - 1), last = first + wait.width - 1;
    switch (wait.op) {
        case Op::shfl: return first + (wait.argument & (wait.width - 1));
        case Op::shfl_up: return lane - first < wait.argument ? lane : lane - wait.argument;
        case Op::shfl_down: return last - lane < wait.argument ? lane : lane + wait.argument;
        default: return (lane ^ (wait.argument & 31)) > last ? lane : lane ^ (wait.argument & 31);
    }
}

inline uint64_t shuffled(const Warp &warp, const Group &group, const Lane &lane) {
    const unsigned source = shuffle_source(lane.wait, lane.in_warp());
    if (group.arrived >> source & 1) return warp.lanes[source].wait.value;
    return 0x0101010101010101u * (lane.block->config.private_pattern & 0xff);
}

inline uint32_t lanes_where_true(const Warp &warp, const Group &group) {
    uint32_t found = 0;
    for (uint32_t rest = group.arrived; rest; rest &= rest - 1) {
        const Lane &lane = warp.lanes[__builtin_ctz(rest)];
        if (lane.wait.value) found |= lane.bit();
    }
    return found;
}

inline uint32_t lanes_with_value(const Warp &warp, const Group &group, uint64_t value) {
    uint32_t found = 0;
    for (uint32_t rest = group.arrived; rest; rest &= rest - 1) {
        const Lane &lane = warp.lanes[__builtin_ctz(rest)];
        if (lane.wait.value == value) found |= lane.bit();
    }
    return found;
}

inline void give_results(Warp &warp, const Group &group) {
    if (group.op == Op::syncwarp) return;
    const uint32_t votes = group.op >= Op::ballot ? lanes_where_true(warp, group) : 0;
    for (uint32_t rest = group.arrived; rest; rest &= rest - 1) {
        Lane &lane = warp.lanes[__builtin_ctz(rest)];
        switch (group.op) {
            case Op::ballot: lane.wait.result = votes; break;
            case Op::any: lane.wait.result = votes != 0; break;
            case Op::all: lane.wait.result = votes == group.arrived; break;
            case Op::match_any: lane.wait.result = lanes_with_value(warp, group, lane.wait.value); break;
            default: lane.wait.result = shuffled(warp, group, lane);
        }
    }
}

inline uint64_t meet(Op op, uint32_t mask, uint64_t value, HD_EMU_PLACE) {
    Lane &me = current();
    return me.block->collective(me, {op, mask, 0, 0, value, 0, {file, line}});
}

inline uint32_t meet_all(Op op, bool predicate, const char *file, unsigned line) {
    Lane &me = current();
    return me.block->barrier(me, {op, 0, 0, 0, predicate, 0, {file, line}});
}

template <class T> uint64_t bits(T value) {
    uint64_t result = 0;
    __builtin_memcpy(&result, &value, sizeof value);
    return result;
}

template <class T> T shuffle(Op op, uint32_t mask, T value, uint32_t argument, int width, const char *file, unsigned line) {
    Lane &me = current();
    if (width < 1 || width > 32 || (width & (width - 1)))
        me.block->fail(me, "calls %s (%s:%u) with width %d, which is no power of two up to 32", name_of(op), file, line,
                       width);
    const Wait wait = {op, mask, argument, static_cast<uint32_t>(width), bits(value), 0, {file, line}};
    const uint64_t found = me.block->collective(me, wait);
    T result;
    __builtin_memcpy(&result, &found, sizeof result);
    return result;
}

}  // namespace hd_emu

inline void __syncthreads(HD_EMU_PLACE) { hd_emu::meet_all(hd_emu::Op::syncthreads, false, file, line); }
inline int __syncthreads_count(int predicate, HD_EMU_PLACE) {
    return static_cast<int>(hd_emu::meet_all(hd_emu::Op::syncthreads_count, predicate, file, line));
}
inline int __syncthreads_and(int predicate, HD_EMU_PLACE) {
    return static_cast<int>(hd_emu::meet_all(hd_emu::Op::syncthreads_and, predicate, file, line));
}
inline int __syncthreads_or(int predicate, HD_EMU_PLACE) {
    return static_cast<int>(hd_emu::meet_all(hd_emu::Op::syncthreads_or, predicate, file, line));
}

inline void __syncwarp(unsigned mask = 0xffffffffu, HD_EMU_PLACE) {
    hd_emu::meet(hd_emu::Op::syncwarp, mask, 0, file, line);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, HD_EMU_PLACE) {
    return static_cast<unsigned>(hd_emu::meet(hd_emu::Op::ballot, mask, predicate != 0, file, line));
}
inline int __any_sync(unsigned mask, int predicate, HD_EMU_PLACE) {
    return static_cast<int>(hd_emu::meet(hd_emu::Op::any, mask, predicate != 0, file, line));
}
inline int __all_sync(unsigned mask, int predicate, HD_EMU_PLACE) {
    return static_cast<int>(hd_emu::meet(hd_emu::Op::all, mask, predicate != 0, file, line));
}

// Overloads for CUDA's types and no others: what converts there converts here, what is ambiguous there does not compile.
#define HD_EMU_FOR_WARP_TYPES(define) \
    define(int) define(unsigned) define(long) define(unsigned long) define(long long) define(unsigned long long) \
    define(float) define(double)

#define HD_EMU_WARP_FUNCTIONS(type)                                                                                    \
    inline unsigned __match_any_sync(unsigned mask, type value, HD_EMU_PLACE) {                                        \
        return static_cast<unsigned>(                                                                                  \
            hd_emu::meet(hd_emu::Op::match_any, mask, hd_emu::bits(value), file, line));                               \
    }                                                                                                                  \
    inline type __shfl_sync(unsigned mask, type value, int source, int width = 32, HD_EMU_PLACE) {                     \
        return hd_emu::shuffle(hd_emu::Op::shfl, mask, value, static_cast<uint32_t>(source), width, file, line);       \
    }                                                                                                                  \
    inline type __shfl_up_sync(unsigned mask, type value, unsigned delta, int width = 32, HD_EMU_PLACE) {              \
        return hd_emu::shuffle(hd_emu::Op::shfl_up, mask, value, delta, width, file, line);                            \
    }                                                                                                                  \
    inline type __shfl_down_sync(unsigned mask, type value, unsigned delta, int width = 32, HD_EMU_PLACE) {            \
        return hd_emu::shuffle(hd_emu::Op::shfl_down, mask, value, delta, width, file, line);                          \
    }                                                                                                                  \
    inline type __shfl_xor_sync(unsigned mask, type value, int lanes, int width = 32, HD_EMU_PLACE) {                  \
        return hd_emu::shuffle(hd_emu::Op::shfl_xor, mask, value, static_cast<uint32_t>(lanes), width, file, line);    \
    }
HD_EMU_FOR_WARP_TYPES(HD_EMU_WARP_FUNCTIONS)
#undef HD_EMU_WARP_FUNCTIONS
#undef HD_EMU_FOR_WARP_TYPES
