// The memory that a record allocates: malloc and its like in a record loop. Each thread has an arena, which is empty when a
// record begins. Nothing of it is used twice within a record, so that an access to memory that was freed is seen.
//
// A block is 16 bytes that say how long it is and whether it is still there, then its bytes, at a multiple of 16. For each 16 bytes
// of the arena `owner` says to which block they belong, and a bit for each byte of it whether the record has written it.
// What is not in a block that is there, or not written where it is read, leaves the task to the CPU, as with other memory
// (guard.cuh, extent.cuh). So does an arena that is full: no program gets NULL.
#pragma once

#include "lane/extent.cuh"
#include "lane/guard.cuh"
#include "libc/strings.cuh"

namespace hd {

constexpr uint64_t arena_step = 16;

template <uint64_t Bytes> struct ArenaRoom {
    alignas(arena_step) char bytes[Bytes];
    uint32_t written[Bytes / 32];
    uint32_t owner[Bytes / arena_step];  // the place of its block's head, divided by the step, and 1; 0: none
};

struct ArenaHead {
    uint32_t size;
    uint32_t live;  // 0: it was freed; 1: malloc's; 2: it ends with its block or function
    uint64_t unused;
};

template <uint64_t Bytes> struct Arena {
    ArenaRoom<Bytes> *room_ = nullptr;
    const char *base = nullptr;
    uint32_t used = 0;

    HD_DEVICE explicit Arena() {}
    HD_DEVICE void keep_in(ArenaRoom<Bytes> *room) {
        room_ = room;
        base = room->bytes;
    }
    HD_DEVICE void begin() { used = 0; }

    HD_DEVICE uint64_t offset(const void *at) const { return static_cast<uint64_t>(static_cast<const char *>(at) - base); }
    HD_DEVICE bool covers(const void *at) const { return offset(at) < used; }

    // The place behind the head of the block in which `at` bytes from the arena's beginning are, or at whose end; 0: in none.
    HD_NOINLINE uint32_t block(uint64_t at) const {
        if (at > used) return 0;
        uint32_t found = at < used ? room_->owner[at / arena_step] : 0;
        if (found == 0 && at % arena_step == 0 && at != 0) {
            found = room_->owner[at / arena_step - 1];
            if (found == 0 || found * arena_step + head(found).size != at) return 0;
        }
        const uint64_t start = found * arena_step;
        return found != 0 && at - start <= head(found).size ? static_cast<uint32_t>(start) : 0;
    }

    // Bytes from `at` on in a block that is there, 0 outside.
    HD_NOINLINE uint64_t room(const void *at) const {
        const uint32_t start = block(offset(at));
        return start != 0 && head(start / arena_step).live ? start + head(start / arena_step).size - offset(at) : 0;
    }
    HD_NOINLINE bool left(const void *from, const void *to) const {
        const uint32_t start = block(offset(from));
        return start != 0 && block(offset(to)) != start;
    }

    HD_NOINLINE void add(uint64_t at, uint64_t size) {
        const uint32_t start = block(at);
        if (start == 0) return;
        const uint64_t end = start + head(start / arena_step).size;
        for (uint64_t stop = size > end - at ? end : at + size; at < stop; at = at / 32 * 32 + 32)
            room_->written[at / 32] |= bits(at, stop);
    }
    HD_NOINLINE bool has(uint64_t at, uint64_t size) const {
        if (size > room(base + at)) return false;
        for (const uint64_t stop = at + size; at < stop; at = at / 32 * 32 + 32)
            if ((room_->written[at / 32] & bits(at, stop)) != bits(at, stop)) return false;
        return true;
    }

    // What a block of `size` bytes takes, its head included.
    static HD_DEVICE uint64_t whole(uint64_t size) {
        return arena_step + (size == 0 ? arena_step : (size + arena_step - 1) / arena_step * arena_step);
    }

    // The bit of one byte; all are where they can be moved (sort.cuh).
    HD_DEVICE void in_bits() {}
    HD_DEVICE bool bit(uint64_t at) const { return room_->written[at / 32] >> at % 32 & 1; }
    HD_DEVICE void put_bit(uint64_t at, bool on) {
        room_->written[at / 32] = (room_->written[at / 32] & ~(1u << at % 32)) | static_cast<uint32_t>(on) << at % 32;
    }

    // Of a record's bytes that nobody has written yet.
    template <class L> HD_NOINLINE char *take(L &lane, uint64_t size, uint32_t line) {
        if (size > Bytes || whole(size) > Bytes - used) lane.fail(Status::arena_used_up, line);
        const uint32_t first = static_cast<uint32_t>(used / arena_step);
        const uint32_t steps = static_cast<uint32_t>(whole(size) / arena_step) - 1;
        *reinterpret_cast<ArenaHead *>(room_->bytes + used) = {static_cast<uint32_t>(size), 1, 0};
        room_->owner[first] = 0;
        for (uint32_t i = 1; i <= steps; ++i) room_->owner[first + i] = first + 1;
        clear(used + arena_step, steps * arena_step);
        char *const made = room_->bytes + used + arena_step;
        used += static_cast<uint32_t>(whole(size));
        return made;
    }

    // The head of the block that begins at `at`, and is there.
    template <class L> HD_NOINLINE ArenaHead &given(L &lane, const void *at, uint32_t line) {
        const uint32_t start = covers(at) ? block(offset(at)) : 0;
        if (start == 0 || start != offset(at) || head(start / arena_step).live != 1) lane.fail(Status::not_allocated, line);
        return *reinterpret_cast<ArenaHead *>(room_->bytes + start - arena_step);
    }

    // A block that ends by itself.
    template <class L> HD_DEVICE char *take_scoped(L &lane, uint64_t size, uint32_t line) {
        char *const made = take(lane, size, line);
        reinterpret_cast<ArenaHead *>(made)[-1].live = 2;
        return made;
    }
    // Ends what ends by itself of all that was taken since `before` was used.
    HD_NOINLINE void end_scoped(uint32_t before) {
        for (uint32_t at = before; at < used;) {
            ArenaHead &one = *reinterpret_cast<ArenaHead *>(room_->bytes + at);
            if (one.live == 2) one.live = 0;
            at += static_cast<uint32_t>(whole(one.size));
        }
    }

    // The bytes of one block, and what of them is written, in another one that is at least as large.
    HD_DEVICE void copy(char *to, const char *from, uint64_t size) {
        const uint64_t source = offset(from), target = offset(to);
        for (uint64_t i = 0; i < size; ++i) {
            to[i] = from[i];
            if (bit(source + i)) put_bit(target + i, true);
        }
    }

 private:
    // Of the block whose bytes begin at `place` steps.
    HD_DEVICE const ArenaHead &head(uint64_t place) const {
        return *reinterpret_cast<const ArenaHead *>(room_->bytes + (place - 1) * arena_step);
    }
    // Of the word in which `at` is: the bits from there on up to `stop`.
    static HD_DEVICE uint32_t bits(uint64_t at, uint64_t stop) {
        const uint64_t n = stop - at;
        return (n < 32 ? (1u << n) - 1 : ~0u) << at % 32;
    }
    HD_DEVICE void clear(uint64_t at, uint64_t size) {  // multiples of a step
        for (uint64_t i = at / arena_step; i < (at + size) / arena_step; ++i) room_->written[i / 2] &= i % 2 ? 0xffffu : ~0xffffu;
    }
};

template <uint64_t Bytes> HD_DEVICE uint64_t room_in(const Arena<Bytes> &arena, const void *at) { return arena.room(at); }

// A string: its block is looked for once.
template <uint64_t Bytes> HD_NOINLINE Found look_at_text(const Arena<Bytes> &arena, const char *at, uint64_t most, int stop = 0) {
    if (!arena.covers(at)) return Found::elsewhere;
    const uint64_t room = arena.room(at);
    uint64_t bit = arena.offset(at);
    for (uint64_t i = 0; i < most; ++i, ++bit) {
        if (i >= room || !(arena.room_->written[bit / 32] >> bit % 32 & 1)) return Found::unwritten;
        if (at[i] == static_cast<char>(stop)) break;
    }
    return Found::written;
}

// ---- the calls; `lane.arena` is the kernel's

template <class L> HD_NOINLINE void *malloc(L &lane, uint32_t line, uint64_t size) { return lane.arena.take(lane, size, line); }

// alloca, and an array of variable length.
template <class L> HD_NOINLINE void *scoped(L &lane, uint32_t line, uint64_t size) {
    return lane.arena.take_scoped(lane, size, line);
}

// A block of the program that declares arrays of variable length, or a function that calls alloca.
template <class L> struct Scoped {
    L &lane;
    const uint32_t before;

    explicit HD_DEVICE Scoped(L &of) : lane(of), before(of.arena.used) {}
    HD_DEVICE ~Scoped() { lane.arena.end_scoped(before); }
};

template <class L> HD_NOINLINE void *calloc(L &lane, uint32_t line, uint64_t count, uint64_t size) {
    if (size != 0 && count > ~uint64_t{0} / size) lane.fail(Status::arena_used_up, line);
    char *const made = lane.arena.take(lane, count * size, line);
    for (uint64_t i = 0; i < count * size; ++i) made[i] = 0;
    lane.arena.add(lane.arena.offset(made), count * size);
    return made;
}

template <class L> HD_NOINLINE void free(L &lane, uint32_t line, void *at) {
    if (at != nullptr) lane.arena.given(lane, at, line).live = 0;
}

// In glibc a size of 0 frees: what a program makes of the NULL that it gets is the CPU's.
template <class L> HD_NOINLINE void *realloc(L &lane, uint32_t line, void *at, uint64_t size) {
    if (at == nullptr) return lane.arena.take(lane, size, line);
    if (size == 0) lane.fail(Status::unsupported, line);
    ArenaHead &old = lane.arena.given(lane, at, line);
    char *const made = lane.arena.take(lane, size, line);
    lane.arena.copy(made, static_cast<const char *>(at), old.size < size ? old.size : size);
    old.live = 0;
    return made;
}

template <class L> HD_NOINLINE void *reallocarray(L &lane, uint32_t line, void *at, uint64_t count, uint64_t size) {
    if (size != 0 && count > ~uint64_t{0} / size) lane.fail(Status::arena_used_up, line);
    return realloc(lane, line, at, count * size);
}

template <class L> HD_NOINLINE char *strndup(L &lane, uint32_t line, const char *text, uint64_t most) {
    const uint64_t length = strnlen(text, most);
    char *const made = lane.arena.take(lane, length + 1, line);
    for (uint64_t i = 0; i < length; ++i) made[i] = text[i];
    made[length] = '\0';
    lane.arena.add(lane.arena.offset(made), length + 1);
    return made;
}

template <class L> HD_NOINLINE char *strdup(L &lane, uint32_t line, const char *text) {
    return strndup(lane, line, text, ~uint64_t{0});
}

}  // namespace hd
