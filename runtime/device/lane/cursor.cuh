// Hands out pieces of one long array to the lanes of a block, from bounded chunks that the block takes of it: one atomic
// operation on shared memory each, no barrier, legal in any control flow.
//
// `state` is generation << bits | used. Used only grows, also past the chunk's size: the lane whose request crosses the end
// (there is exactly one) fetches the next chunk from the global counter, the others wait for it. Where a generation's chunk
// begins lies in a small ring; a lane that was so late that its generation is gone from it forgets what it got and asks
// again. One 64-bit word with the place itself would be simpler, but a 64-bit add in shared memory is a loop of compare and
// swap, which 32 lanes at once turn into a queue.
#pragma once

#include "lane/failure.cuh"

namespace hd {

// Where the whole is: `used` of `size` have been taken, in chunks of `chunk`. `full`: the status when there is no more.
struct Whole {
    unsigned long long *used;
    uint64_t size;
    Status full;
    Failure *failure;
};

// Bits: of `state` for `used`; 2^Bits > Chunk + 1 + 1024 lanes * the largest request. The others count generations, and
// begin again after the last: a lane that is as late as that between its two steps would be wrong, but the chunks that its
// block uses up meanwhile hold 32 MiB of text, or a million pairs.
template <uint32_t Chunk, uint32_t Bits> struct Cursor32 {
    static constexpr uint32_t bound = ((1u << Bits) - Chunk - 2) / 1024;
    static constexpr uint32_t largest = bound < Chunk ? bound : Chunk;  // request
    static constexpr uint32_t ring = 8, tag_bits = 20;
    static constexpr unsigned long long closed = ~0ull >> tag_bits;  // a place: there is no more

    uint32_t state;
    unsigned long long places[ring];  // place << tag_bits | generation

    // By one thread, before a barrier. The first request crosses the end of a chunk that never was.
    HD_DEVICE void start() {
        state = Chunk;
        for (uint32_t i = 0; i < ring; ++i) places[i] = 0;
    }

    // The place of `wanted` (1 ... largest) elements.
    HD_DEVICE uint64_t take(const Whole &whole, uint32_t item, uint32_t wanted) {
        const uint32_t old = atomicAdd(&state, wanted);
        if (__builtin_expect(used_of(old) + wanted <= Chunk, 1)) {
            const unsigned long long place = peek_word(&places[(old >> Bits) % ring]);
            if (__builtin_expect(tag_of(place) == old >> Bits, 1)) return (place >> tag_bits) + used_of(old);
        }
        return take_further(this, whole, item, wanted, old);
    }

 private:
    static HD_DEVICE uint32_t used_of(uint32_t word) { return word & ((1u << Bits) - 1); }
    static HD_DEVICE uint32_t tag_of(unsigned long long place) { return static_cast<uint32_t>(place) & ((1u << tag_bits) - 1); }
    static HD_DEVICE uint32_t next_of(uint32_t generation) { return (generation + 1) & ((1u << (32 - Bits)) - 1); }

    // The rare part of `take`, after a first try that found `old`.
    static HD_NOINLINE uint64_t take_further(Cursor32 *cursor, Whole whole, uint32_t item, uint32_t wanted, uint32_t old) {
        for (;;) {
            const uint32_t generation = old >> Bits, used = used_of(old);
            const unsigned long long place = peek_word(&cursor->places[generation % ring]);
            const bool current = tag_of(place) == generation;
            if (current && place >> tag_bits == closed) fail(whole.failure, item, whole.full, 0);
            if (used + wanted <= Chunk) {
                if (current) return (place >> tag_bits) + used;
            } else if (used <= Chunk) {
                return cursor->next_chunk(whole, item, wanted, next_of(generation));
            } else {
                cursor->wait_for_other(generation);
            }
            old = atomicAdd(&cursor->state, wanted);
        }
    }

    HD_DEVICE uint64_t next_chunk(const Whole &whole, uint32_t item, uint32_t wanted, uint32_t generation) {
        const uint64_t at = atomicAdd(whole.used, static_cast<unsigned long long>(Chunk));
        const bool full = at + Chunk > whole.size;
        atomicExch(&places[generation % ring], (full ? closed : at) << tag_bits | generation);
        __threadfence_block();
        atomicExch(&state, generation << Bits | (full ? Chunk + 1 : wanted));
        if (full) fail(whole.failure, item, whole.full, 0);
        return at;
    }

    HD_DEVICE void wait_for_other(uint32_t generation) {
        while (peek_word(&state) >> Bits == generation) {
#ifdef __CUDACC__
            __nanosleep(32);
#endif
        }
    }
};

// Straight from the whole, in multiples of `unit`: what is too large for a cursor.
HD_NOINLINE uint64_t take_apart(Whole whole, uint32_t item, uint64_t wanted, uint32_t unit) {
    const uint64_t rounded = (wanted + unit - 1) / unit * unit;
    const uint64_t at = atomicAdd(whole.used, static_cast<unsigned long long>(rounded));
    if (at + rounded > whole.size) fail(whole.failure, item, whole.full, 0);
    return at;
}

}  // namespace hd
