// qsort as glibc does it: a merge sort, which halves, sorts both halves and merges them, the first of two equal elements first.
// The comparator is called by the kernel's text between sort_next and sort_put, with elements where they lie; what it has said is kept as
// an order of their numbers, and sort_end moves them, together with what is noted of their bytes (guard.cuh). The order and
// where the sort is are in the arena, from sort_begin to sort_end.
#pragma once

#include "lane/arena.cuh"

namespace hd {

struct SortPart {
    uint32_t from, n, step;  // step: 0 new, 1 its first half is being sorted, 2 the second one, 3 both are merged
};

struct SortState {
    uint32_t n, depth;
    uint32_t left, right, merged;  // of the part that is merged: the next of each half, and how many are in their places
    bool wide;                     // numbers take 4 bytes, else 2
    uint32_t before;               // what was used of the arena
    SortPart parts[33];

    HD_DEVICE char *numbers() { return reinterpret_cast<char *>(this + 1); }
    HD_DEVICE uint32_t get(uint64_t at) {
        return wide ? reinterpret_cast<uint32_t *>(numbers())[at] : reinterpret_cast<uint16_t *>(numbers())[at];
    }
    HD_DEVICE void put(uint64_t at, uint32_t number) {
        if (wide)
            reinterpret_cast<uint32_t *>(numbers())[at] = number;
        else
            reinterpret_cast<uint16_t *>(numbers())[at] = static_cast<uint16_t>(number);
    }
    HD_DEVICE void add(uint32_t from, uint32_t count) { parts[depth++] = {from, count, 0}; }
    HD_DEVICE void merge(uint32_t number) { put(static_cast<uint64_t>(n) + merged++, number); }
};

HD_DEVICE SortState *sort_state(uint64_t sort) { return reinterpret_cast<SortState *>(sort); }

template <class L> HD_NOINLINE uint64_t sort_begin(L &lane, uint32_t line, uint64_t n, uint64_t size) {
    const bool wide = n > 0xffff;
    if (n > 0x7fffffff || size == 0) lane.fail(n > 1 ? Status::arena_used_up : Status::unsupported, line);
    const uint32_t before = lane.arena.used;
    SortState *const made = reinterpret_cast<SortState *>(lane.arena.take(lane, sizeof(SortState) + 2 * n * (wide ? 4 : 2), line));
    lane.arena.given(lane, made, line).live = 0;  // it is none of the program's
    made->n = static_cast<uint32_t>(n);
    made->depth = 0;
    made->wide = wide;
    made->before = before;
    for (uint32_t i = 0; i < n; ++i) made->put(i, i);
    made->add(0, made->n);
    return reinterpret_cast<uint64_t>(made);
}

// Goes on to the next two elements that are to be compared; false: there are none.
template <class L> HD_NOINLINE int sort_next(L &, uint32_t, uint64_t sort) {
    SortState &s = *sort_state(sort);
    while (s.depth != 0) {
        SortPart &part = s.parts[s.depth - 1];
        const uint32_t half = part.n / 2;
        if (part.n <= 1) {
            --s.depth;
        } else if (part.step == 0) {
            part.step = 1;
            s.add(part.from, half);
        } else if (part.step == 1) {
            part.step = 2;
            s.add(part.from + half, part.n - half);
        } else {
            if (part.step == 2) {
                part.step = 3;
                s.left = part.from;
                s.right = part.from + half;
                s.merged = 0;
            }
            if (s.left < part.from + half && s.right < part.from + part.n) return 1;
            while (s.left < part.from + half) s.merge(s.get(s.left++));
            for (uint32_t i = 0; i < s.merged; ++i) s.put(part.from + i, s.get(static_cast<uint64_t>(s.n) + i));
            --s.depth;
        }
    }
    return 0;
}

template <class L> HD_DEVICE uint64_t sort_left(L &, uint32_t, uint64_t sort) {
    return sort_state(sort)->get(sort_state(sort)->left);
}
template <class L> HD_DEVICE uint64_t sort_right(L &, uint32_t, uint64_t sort) {
    return sort_state(sort)->get(sort_state(sort)->right);
}

template <class L> HD_NOINLINE void sort_put(L &, uint32_t, uint64_t sort, int order) {
    SortState &s = *sort_state(sort);
    s.merge(s.get(order <= 0 ? s.left++ : s.right++));
}

// What a guard knows of `size` bytes of an element moves with it. The line has no marks: all of it is written.
template <class G> HD_DEVICE void move_marks(SortState &s, G &guard, const char *base, uint32_t from, uint64_t size) {
    if (!guard.covers(base)) return;
    guard.in_bits();
    for (uint64_t i = 0; i < size; ++i) {
        const uint64_t at = guard.offset(base) + i;
        const bool first = guard.bit(at + from * size);
        uint32_t to = from;
        for (uint32_t next; (next = s.get(to)) != from; to = next) guard.put_bit(at + to * size, guard.bit(at + next * size));
        guard.put_bit(at + to * size, first);
    }
}
HD_DEVICE void move_marks(SortState &, Reader &, const char *, uint32_t, uint64_t) {}

template <class L, class... G>
HD_NOINLINE void sort_end(L &lane, uint32_t, uint64_t sort, void *all, uint64_t n, uint64_t size, G &...guards) {
    SortState &s = *sort_state(sort);
    char *const base = static_cast<char *>(all);
    for (uint32_t from = 0; from < n; ++from) {
        if (s.get(from) == from) continue;
        (move_marks(s, guards, base, from, size), ...);
        for (uint64_t i = 0; i < size; ++i) {
            const char first = base[from * size + i];
            uint32_t to = from;
            for (uint32_t next; (next = s.get(to)) != from; to = next) base[to * size + i] = base[next * size + i];
            base[to * size + i] = first;
        }
        for (uint32_t to = from, next;; to = next) {
            next = s.get(to);
            s.put(to, to);
            if (next == from) break;
        }
    }
    if (lane.arena.used == s.before + lane.arena.whole(sizeof s + 2 * n * (s.wide ? 4 : 2))) lane.arena.used = s.before;
}

}  // namespace hd
