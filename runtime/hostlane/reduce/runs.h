// Sorted runs that lie one behind the other, made one.
#pragma once

#include "reduce/segment.h"

namespace hd {

// Memory that grows, for things that may be copied as bytes. `limit`: bytes that it may take.
template <class T> class Grown {
 public:
    T *begin() const { return data_; }
    uint64_t size() const { return size_; }
    T &operator[](uint64_t i) const { return data_[i]; }
    void clear() { size_ = 0; }

    HD_DEVICE T &add(const T &one) {
        if (__builtin_expect(size_ == room_, 0)) reserve(room_ ? 2 * room_ : 256);
        return data_[size_++] = one;
    }

    void reserve(uint64_t room, uint64_t limit = ~uint64_t{0}) {
        if (room <= room_) return;
        T *const larger = room > limit / sizeof(T) ? nullptr : reinterpret_cast<T *>(sys::pages(room * sizeof(T)));
        if (!larger) leave(Status::no_room);
        if (size_) __builtin_memcpy(static_cast<void *>(larger), data_, size_ * sizeof(T));
        if (data_) sys::munmap(data_, room_ * sizeof(T));
        data_ = larger;
        room_ = room;
    }

    uint64_t room() const { return room_; }

 private:
    T *data_ = nullptr;
    uint64_t size_ = 0, room_ = 0;
};

// A key in an order: its prefix, and where the rest of it is.
struct Ordered {
    uint64_t prefix, at;
};

// `starts`: where runs begin in `all`, the first at 0, in order. less(a, b): where the prefixes are equal.
template <class Less> void merge_runs(Grown<Ordered> &all, Grown<Ordered> &other, Grown<uint64_t> &starts, Less less) {
    const uint64_t n = all.size();
    other.reserve(n);
    Ordered *from = all.begin(), *to = other.begin();
    uint64_t runs = starts.size();
    while (runs > 1) {
        uint64_t made = 0;
        for (uint64_t i = 0; i < runs; i += 2) {
            const uint64_t begin = starts[i], middle = i + 1 < runs ? starts[i + 1] : n, end = i + 2 < runs ? starts[i + 2] : n;
            uint64_t a = begin, b = middle, out = begin;
            while (a < middle && b < end) {
                const Ordered &left = from[a], &right = from[b];
                const bool second = right.prefix < left.prefix || (right.prefix == left.prefix && less(right, left));
                to[out++] = second ? right : left;
                b += second;
                a += !second;
            }
            if (a < middle) __builtin_memcpy(to + out, from + a, (middle - a) * sizeof(Ordered));
            if (b < end) __builtin_memcpy(to + out, from + b, (end - b) * sizeof(Ordered));
            starts[made++] = begin;
        }
        runs = made;
        Ordered *const swapped = from;
        from = to;
        to = swapped;
    }
    if (from != all.begin()) __builtin_memcpy(all.begin(), from, n * sizeof(Ordered));
}

}  // namespace hd
