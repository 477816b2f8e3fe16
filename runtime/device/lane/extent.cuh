// Where objects lie that an access may miss (decision 0020): what lies in none of those that it may touch gives the task up to
// the CPU, where the same access finds what it finds there.
#pragma once

#include "lane/lane.cuh"
#include "libc/overlap.cuh"
#include "libc/room.cuh"

namespace hd {

// An object that is another's neighbour by nothing: a pointer just behind it leads to no other.
template <class T> struct Apart {
    T value;
    char gap;
};

// Where an object of `Bytes` bytes lies, 0: as many as `begin` says. `base` is null while it does not exist.
template <uint64_t Bytes = 0> struct Extent {
    const char *base = nullptr;
    uint64_t bytes = Bytes;

    HD_DEVICE void begin(const void *at, uint64_t size = Bytes) {
        base = static_cast<const char *>(at);
        if (Bytes == 0) bytes = size;
    }
    HD_DEVICE void begin_none() { base = nullptr; }
    HD_DEVICE uint64_t size() const { return Bytes == 0 ? bytes : Bytes; }
    HD_DEVICE uint64_t offset(const void *at) const { return static_cast<uint64_t>(static_cast<const char *>(at) - base); }
    HD_DEVICE bool holds(const void *at) const { return base != nullptr && offset(at) <= size(); }  // its end belongs to it
    // Bytes from `at` to the object's end, 0 outside.
    HD_DEVICE uint64_t room(const void *at) const { return holds(at) ? size() - offset(at) : 0; }
    HD_DEVICE bool left(const void *from, const void *to) const { return holds(from) && !holds(to); }
};

// String literals in one table, one after the other with a byte between them; `starts[count]` is the table's size.
struct Literals {
    const char *base;
    const uint32_t *starts;
    uint32_t count;

    HD_DEVICE uint64_t offset(const void *at) const { return static_cast<uint64_t>(static_cast<const char *>(at) - base); }
    // Behind the literal's last byte, its NUL, in which (or at whose end) `at` lies; 0: in none.
    HD_DEVICE uint32_t end(const void *at) const {
        if (offset(at) >= starts[count]) return 0;
        uint32_t low = 0, high = count;
        while (high - low > 1) {
            const uint32_t middle = (low + high) / 2;
            (starts[middle] <= offset(at) ? low : high) = middle;
        }
        return starts[low + 1] - 1;
    }
    HD_DEVICE uint64_t room(const void *at) const {
        const uint32_t stop = end(at);
        return stop ? stop - offset(at) : 0;
    }
    HD_DEVICE bool left(const void *from, const void *to) const { return end(from) != 0 && end(from) != end(to); }
};

template <class T> HD_DEVICE Literals literals(const T &table, const uint32_t *starts, uint32_t count) {
    return {reinterpret_cast<const char *>(&table), starts, count};
}

HD_DEVICE uint64_t room_in(const Literals &texts, const void *at) { return texts.room(at); }

// Memory of the heap that the prologue hands over: its size stands before it (executor/kernel/prologue.py).
HD_DEVICE uint64_t memory_bytes(const void *memory) {
    return memory != nullptr ? static_cast<const uint64_t *>(memory)[-2] : 0;
}

HD_DEVICE uint64_t room_in(const Reader &in, const void *at) { return in.in_text(at) ? ~uint64_t{0} : 0; }
template <uint64_t Bytes> HD_DEVICE uint64_t room_in(const Extent<Bytes> &object, const void *at) { return object.room(at); }

// Bytes from `at` on in that of the objects that it lies in.
template <class... E> HD_DEVICE uint64_t room(const void *at, const E &...objects) {
    uint64_t most = 0;
    ((most = room_in(objects, at) > most ? room_in(objects, at) : most), ...);
    return most;
}

// The index of an element, less than `Length`.
template <uint64_t Length, class L, class T> HD_DEVICE T within(L &lane, T index, uint32_t line) {
    if (static_cast<uint64_t>(index) >= Length) lane.fail(Status::outside_object, line);
    return index;
}

template <class L, class T, class... E> HD_DEVICE T &inside(L &lane, T &what, uint32_t line, const E &...objects) {
    if (((room_in(objects, &what) < sizeof what) && ...)) lane.fail(Status::outside_object, line);
    return what;
}

// ---- what a library call writes

template <class T> HD_DEVICE Roomy<T> roomy(T *at, uint64_t room) { return {at, room}; }
template <class T, class E, class... More> HD_DEVICE Roomy<T> roomy(T *at, const E &first, const More &...objects) {
    return {at, room(at, first, objects...)};
}

template <class L> HD_DEVICE void fits(L &lane, uint64_t size, uint64_t room, uint32_t line) {
    if (size > room) lane.fail(Status::outside_object, line);
}

template <class L, class... Piece>
HD_DEVICE int sprint_in(L &lane, uint32_t line, const Roomy<char> &to, const Piece &...pieces) {
    fits(lane, (pieces.size() + ... + 1), to.room, line);
    return sprint(to.at, pieces...);
}
template <class L, class... Piece>
HD_DEVICE int sprint_in_apart(L &lane, uint32_t line, const Roomy<char> &to, const Piece &...pieces) {
    fits(lane, (pieces.size() + ... + 1), to.room, line);
    return sprint_apart(lane, line, to.at, pieces...);
}

HD_DEVICE uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

template <class L, class... Piece>
HD_DEVICE int snprint_in(L &lane, uint32_t line, const Roomy<char> &to, size_t n, const Piece &...pieces) {
    fits(lane, least(n, (pieces.size() + ... + 1)), to.room, line);
    return snprint(to.at, n, pieces...);
}
template <class L, class... Piece>
HD_DEVICE int snprint_in_apart(L &lane, uint32_t line, const Roomy<char> &to, size_t n, const Piece &...pieces) {
    fits(lane, least(n, (pieces.size() + ... + 1)), to.room, line);
    return snprint_apart(lane, line, to.at, n, pieces...);
}

template <class L> HD_DEVICE char *fgets_in(L &lane, uint32_t line, const Roomy<char> &buffer, int size) {
    if (size > 1) fits(lane, least(static_cast<uint64_t>(size), lane.in.rest() + 1), buffer.room, line);
    return lane.in.fgets(buffer.at, size);
}

}  // namespace hd
