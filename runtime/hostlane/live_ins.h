// What the program computed before its loop, from descriptor 4 (executor/kernel/prologue.py makes it): the bytes of `struct Shared`,
// objects, and where in both the addresses of objects belong.
//
//   u64 shared_size, objects, relocations;  u64 sizes[objects];  {u64 object, at, delta} [relocations];  shared bytes;  objects
#pragma once

#include "output.h"

namespace hd {

constexpr int live_in_descriptor = 4;

class LiveIns {
 public:
    // Fills in [shared, shared + size). A descriptor that gives something else ends the process.
    static void read(char *shared, uint64_t size) {
        uint64_t head[3];
        fill(head, sizeof head);
        const uint64_t objects = head[1], relocations = head[2];
        if (head[0] != size || objects > most || relocations > most) sys::_exit(broken_status);
        uint64_t *const sizes = array<uint64_t>(objects);
        Relocation *const places = array<Relocation>(relocations);
        char **const at = array<char *>(objects);
        fill(sizes, objects * sizeof *sizes);
        fill(places, relocations * sizeof *places);
        fill(shared, size);
        for (uint64_t i = 0; i < objects; ++i) fill(at[i] = array<char>(sizes[i]), sizes[i]);
        for (uint64_t i = 0; i < relocations; ++i) {
            const Relocation &place = places[i];
            if (place.object >= objects || place.at > size || size - place.at < sizeof(char *)) sys::_exit(broken_status);
            const char *const target = at[place.object] + place.delta;
            __builtin_memcpy(shared + place.at, &target, sizeof target);
        }
    }

 private:
    struct Relocation {
        uint64_t object, at, delta;
    };
    static constexpr uint64_t most = 1 << 20;

    // Zeros; they begin a page.
    template <class T> static T *array(uint64_t count) {
        char *const made = count > ~uint64_t{0} / 2 / sizeof(T) ? nullptr : sys::pages(count * sizeof(T) + 1);
        if (!made) sys::_exit(broken_status);
        return reinterpret_cast<T *>(made);
    }

    static void fill(void *to, uint64_t n) {
        if (sys::read_all(live_in_descriptor, static_cast<char *>(to), n) != static_cast<long>(n)) sys::_exit(broken_status);
    }
};

}  // namespace hd
