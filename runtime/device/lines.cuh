// Where lines and keys end in a piece of output, found while it is written.
//
// A piece is what lane.print takes (format.cuh): `size_t size() const`, `char *write(char *to) const`. Two optional
// members say more, and spare reading the output back from memory: `static constexpr bool plain = true`: it never writes
// \t, \n or \r; `const char *source() const`: the size() bytes that it writes, as they are.
#pragma once

#include <type_traits>

#include "base.cuh"

namespace hd {

constexpr uint32_t nowhere = 0xffffffffu;

struct Marks {
    uint32_t lines = 0;            // newlines
    uint32_t newline = nowhere;    // offset of the first
    uint32_t tab = nowhere;        // offset of the first tab
    bool carriage_return = false;

    HD_DEVICE void add(const char *text, uint32_t size, uint32_t offset) {
        for (uint32_t i = 0; i < size; ++i)
            if (static_cast<unsigned char>(text[i] - '\t') <= '\r' - '\t') note(text[i], offset + i);
    }

 private:
    HD_DEVICE void note(char c, uint32_t at) {
        if (c == '\n' && lines++ == 0) newline = at;
        if (c == '\t' && at < tab) tab = at;
        if (c == '\r') carriage_return = true;
    }
};

template <class Piece, class = void> struct IsPlain : std::false_type {};
template <class Piece> struct IsPlain<Piece, std::enable_if_t<Piece::plain>> : std::true_type {};
template <class Piece, class = void> struct HasSource : std::false_type {};
template <class Piece> struct HasSource<Piece, std::void_t<decltype(std::declval<const Piece &>().source())>> : std::true_type {};

// Writes a piece at `to`, which is `offset` bytes into the text; returns the end.
template <class Piece> HD_DEVICE char *write_marked(Marks &marks, const Piece &piece, char *to, uint32_t offset) {
    char *const end = piece.write(to);
    if constexpr (HasSource<Piece>::value)
        marks.add(piece.source(), static_cast<uint32_t>(end - to), offset);
    else if constexpr (!IsPlain<Piece>::value)
        marks.add(to, static_cast<uint32_t>(end - to), offset);
    return end;
}

}  // namespace hd
