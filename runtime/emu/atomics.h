// Atomic operations. Lanes take turns, so a plain read and write is atomic; before and after one, now and then, others run:
// a spin ends, and a race between an atomic operation and what surrounds it shows.
//
// A spin that can never end is an error once very many operations in a row have changed nothing, of all lanes of the block
// (hd_emu_config::spin_limit). Not found: spins through plain or volatile reads, and spins that change memory.
#pragma once

#include "warp.h"

namespace hd_emu __attribute__((visibility("hidden"))) {

constexpr uint64_t usual_spin_limit = 1u << 26;  // above what a long loop of e.g. atomicMax may do in vain

inline void let_others_run(Block &block) {
    if (--block.until_yield == 0) block.yield();
}

inline __attribute__((noinline, cold)) void fail_spin(Lane &me, const char *file, unsigned line) {
    Block &block = *me.block;
    block.report(&me, "spins at an atomic operation (%s:%u): %llu of them in a row changed nothing", file, line,
                 static_cast<unsigned long long>(block.idle));
    block.append_waiting();
    switch_stack(me.context, block.main, true);
}

template <class T, class Change> T atomic(T *word, Change change, const char *file, unsigned line) {
    Lane &me = current();
    Block &block = *me.block;
    const uintptr_t at = reinterpret_cast<uintptr_t>(word);
    if ((at & ~(slot_bytes - 1)) == me.stack->slot())  // a GPU ends the launch, or does it by halves
        block.fail(me, "does an atomic operation (%s:%u) at %p, which is its own memory", file, line, static_cast<void *>(word));
    if (at % sizeof(T))
        block.fail(me, "does an atomic operation (%s:%u) at %p, which is not a multiple of %zu", file, line,
                   static_cast<void *>(word), sizeof(T));
    let_others_run(block);
    const T old = *word, now = change(old);
    *word = now;
    if (bits(old) != bits(now)) block.idle = 0;
    else if (++block.idle >= block.config.spin_limit) fail_spin(me, file, line);
    let_others_run(block);
    return old;
}

}  // namespace hd_emu

// Overloads for CUDA's types and no others. uint64_t is unsigned long, which CUDA's atomics do not take either.
#define HD_EMU_ATOMIC(name, type, expression)                                       \
    inline type name(type *word, type value, HD_EMU_PLACE) {                        \
        return hd_emu::atomic(                                                      \
            word, [value]([[maybe_unused]] type old) -> type { return expression; }, file, line); \
    }
#define HD_EMU_ATOMIC_CAS(type)                                                     \
    inline type atomicCAS(type *word, type expected, type value, HD_EMU_PLACE) {    \
        return hd_emu::atomic(                                                      \
            word, [=](type old) -> type { return old == expected ? value : old; }, file, line); \
    }
#define HD_EMU_ATOMIC_BITS(type)                    \
    HD_EMU_ATOMIC(atomicAnd, type, old & value)     \
    HD_EMU_ATOMIC(atomicOr, type, old | value)      \
    HD_EMU_ATOMIC(atomicXor, type, old ^ value)     \
    HD_EMU_ATOMIC(atomicExch, type, value)          \
    HD_EMU_ATOMIC_CAS(type)
#define HD_EMU_ATOMIC_ORDER(type)                               \
    HD_EMU_ATOMIC(atomicMin, type, value < old ? value : old)   \
    HD_EMU_ATOMIC(atomicMax, type, value > old ? value : old)

HD_EMU_ATOMIC_BITS(int)
HD_EMU_ATOMIC_BITS(unsigned)
HD_EMU_ATOMIC_BITS(unsigned long long)
HD_EMU_ATOMIC_ORDER(int)
HD_EMU_ATOMIC_ORDER(unsigned)
HD_EMU_ATOMIC_ORDER(long long)
HD_EMU_ATOMIC_ORDER(unsigned long long)
HD_EMU_ATOMIC(atomicAdd, int, static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value)))
HD_EMU_ATOMIC(atomicAdd, unsigned, old + value)
HD_EMU_ATOMIC(atomicAdd, unsigned long long, old + value)
HD_EMU_ATOMIC(atomicAdd, float, old + value)
HD_EMU_ATOMIC(atomicAdd, double, old + value)
HD_EMU_ATOMIC(atomicSub, int, static_cast<int>(static_cast<unsigned>(old) - static_cast<unsigned>(value)))
HD_EMU_ATOMIC(atomicSub, unsigned, old - value)
HD_EMU_ATOMIC(atomicExch, float, value)

#undef HD_EMU_ATOMIC_ORDER
#undef HD_EMU_ATOMIC_BITS
#undef HD_EMU_ATOMIC_CAS
#undef HD_EMU_ATOMIC

// One thread runs all lanes: memory is in order. What a missing fence does is not shown.
inline void __threadfence_block() { asm volatile("" ::: "memory"); }
inline void __threadfence() { asm volatile("" ::: "memory"); }
inline void __threadfence_system() { asm volatile("" ::: "memory"); }

// In a spin: the others' turn.
inline void __nanosleep(unsigned) { hd_emu::current().block->yield(); }
