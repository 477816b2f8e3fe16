// printf's conversions as pieces. A piece is built from the converted value; `size()` says how many bytes it prints,
// `write(to)` writes them and returns the end, `clip(to, room)` writes the first `room` of them (snprintf), room <= size().
// Lengths are C's ints: a width or precision that makes the text longer than INT_MAX is not treated as glibc does.
#pragma once

#include "libc/format_text.cuh"
#include "libc/format_real.cuh"

namespace hd {

// sprintf of the pieces: the number of bytes before the NUL.
template <class... Piece> HD_DEVICE int sprint(char *to, const Piece &...pieces) {
    char *at = to;
    ((at = pieces.write(at)), ...);
    *at = 0;
    return static_cast<int>(at - to);
}

template <class Piece> HD_DEVICE char *write_up_to(char *at, char *end, const Piece &piece) {
    const size_t room = static_cast<size_t>(end - at), size = piece.size();
    if (size <= room) return piece.write(at);
    piece.clip(at, room);
    return end;
}

// snprintf of the pieces into n bytes: the length that the whole text has.
template <class... Piece> HD_DEVICE int snprint(char *to, size_t n, const Piece &...pieces) {
    const size_t size = (pieces.size() + ... + 0);
    if (n) {
        char *at = to, *const end = to + n - 1;
        ((at = write_up_to(at, end, pieces)), ...);
        *at = 0;
    }
    return static_cast<int>(size);
}

}  // namespace hd
