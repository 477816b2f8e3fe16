// Texts of pairs' values, of host kernels and of a device's ordered loops: how they are read, and what is computed of them. A text
// holds no NUL.
#pragma once

#include "libc/memory.cuh"
#include "sink/numbers.cuh"

namespace hd {

// Which bytes end a text, as two masks of those below 128, and which texts read back (compiler/keyloop/loop.py, ValueText).
struct TextRule {
    uint64_t low, high;
    size_t most;  // 0: any
    bool empty, indented;

    HD_DEVICE bool stops(unsigned char c) const { return c < 128 && ((c < 64 ? low : high) >> (c & 63) & 1); }
};

HD_DEVICE bool read_text(ValueText &from, Text &to, const TextRule &rule) {
    const char *const begin = from.at;
    while (from.at != from.end && !rule.stops(static_cast<unsigned char>(*from.at))) ++from.at;
    to = {begin, static_cast<size_t>(from.at - begin)};
    if (to.n == 0) return rule.empty;
    const char first = *begin;
    const bool white = first == ' ' || first == '\t' || first == '\v' || first == '\f';
    return (rule.most == 0 || to.n <= rule.most) && (rule.indented || !white);
}

HD_DEVICE size_t length(const Text &text) { return text.n; }
HD_DEVICE char first_byte(const Text &text) { return text.n ? *text.from : '\0'; }
HD_DEVICE Text cut(const Text &text, size_t most) { return {text.from, text.n < most ? text.n : most}; }

// As strcmp: by unsigned bytes.
HD_DEVICE int order(const Text &a, const Text &b) {
    const size_t n = a.n < b.n ? a.n : b.n;
    const int different = n ? bytes_order(a.from, b.from, n) : 0;
    return different ? different : (a.n > b.n) - (a.n < b.n);
}

// A text that is kept of a key. All zeros: it is empty. room: bytes of ours at that place.
struct KeptText {
    const char *at;
    uint32_t n, room;

    HD_DEVICE Text text() const { return {at, n}; }
};

// A text that is changed after it was taken.
template <size_t most> struct AsideText {
    char bytes[most];
    size_t n;

    explicit HD_DEVICE AsideText(const Text &text) : n(text.n) {
        if (n) hd::memcpy(bytes, text.from, n);
    }
    HD_DEVICE operator Text() const { return {bytes, n}; }
};

}  // namespace hd
