// Search loops that look ahead: `while (i < n && table[i] != x) i++;` waits for each element before it asks for the next.
// Here sixteen are asked for at once, and `i` goes on to the first one at which the loop stops; the program's own loop
// follows and finds it there. See heterodoop/compiler/device/ahead.py for what the arguments may do.
#pragma once

#include "lane/base.cuh"

namespace hd {

// The first of `width` elements at which `go` is false; there is one.
template <int width, class Element, class Variable, class Go>
HD_DEVICE int first_stop(const Element *elements, Variable i, Go go) {
    int first = width - 1;
#pragma unroll
    for (int k = width - 1; k-- > 0;) first = go(static_cast<Variable>(i + k), elements[k]) ? first : k;
    return first;
}

// Steps of `width` elements while none of them is a stop, then to the first one that is: true if there was one.
template <int width, class Variable, class InBounds, class At, class Go>
HD_DEVICE bool search_by(Variable &i, uint64_t size, InBounds in_bounds, At at, Go go) {
    while (static_cast<uint64_t>(i) <= size - width && in_bounds(static_cast<Variable>(i + (width - 1)))) {
        decltype(at(i)) elements[width];
#pragma unroll
        for (int k = 0; k < width; ++k) elements[k] = at(static_cast<Variable>(i + k));
        bool goes[4] = {true, true, true, true};  // not one: each would wait for the one before
#pragma unroll
        for (int k = 0; k < width; ++k) goes[k % 4] &= go(static_cast<Variable>(i + k), elements[k]);
        if (!(goes[0] & goes[1] & goes[2] & goes[3])) {
            i = static_cast<Variable>(i + first_stop<width>(elements, i, go));
            return true;
        }
        i = static_cast<Variable>(i + width);
    }
    return false;
}

// `i` indexes an array of `size` elements (16 and more), all of which can be read: at(i) is one. The loop goes on while
// in_bounds(i), which is so for all places before one where it is, and go(i, element). The last few elements before the
// bound are left to the program's own loop.
template <class Variable, class InBounds, class At, class Go>
HD_DEVICE void search_array(Variable &i, uint64_t size, InBounds in_bounds, At at, Go go) {
    // One that ends at once, as in a table that is looked up by a hash, must not pay for sixteen.
    if (static_cast<uint64_t>(i) >= size || !in_bounds(i) || !go(i, at(i))) return;
    if (!search_by<16>(i, size, in_bounds, at, go)) search_by<4>(i, size, in_bounds, at, go);
}

}  // namespace hd
