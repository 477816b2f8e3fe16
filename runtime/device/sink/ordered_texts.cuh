// Texts of values in columns, and those that are kept of a key. Each key has as many bytes for these as the program's arrays,
// behind its numbers, so that nothing is ever allocated.
#pragma once

#include "sink/ordered.h"
#include "sink/texts.cuh"

namespace hd {

constexpr uint32_t text_length_bits = 24;  // of a text in a column; the rest says where in the store it begins

template <class T> HD_DEVICE T &column(const Columns &columns, uint32_t number, uint64_t i) {
    return reinterpret_cast<T *>(columns.memory + 8 * columns.count * number)[i];
}

// A text of fewer than 2^text_length_bits bytes.
HD_DEVICE void put_text(const Columns &columns, uint32_t number, uint64_t i, const Text &text) {
    column<uint64_t>(columns, number, i) = static_cast<uint64_t>(text.from - columns.arena) << text_length_bits | text.n;
}

HD_DEVICE Text get_text(const Columns &columns, uint32_t number, uint64_t i) {
    const uint64_t word = column<uint64_t>(columns, number, i);
    return {columns.arena + (word >> text_length_bits), static_cast<size_t>(word & ((1u << text_length_bits) - 1))};
}

// Its first bytes will be read soon: of many texts they come together.
HD_DEVICE void ask_text(const Text &text) {
#ifdef __CUDACC__
    if (text.n) asm volatile("prefetch.global.L1 [%0];" ::"l"(text.from));
#else
    static_cast<void>(text);
#endif
}

// Where the kept text's bytes are, which states on their way through memory do not say.
HD_DEVICE void place_text(KeptText &text, char *at, uint32_t room) {
    text.at = at;
    text.room = room;
}

// What a step does with the texts that are kept. None is longer than its array, or the loop would have said so: should that ever
// be wrong, the task is the CPU's.
template <class Leaving> struct OrderedTexts {
    const Leaving &leaving;

    // One that is too long is still so.
    template <size_t most> HD_DEVICE AsideText<most> aside(const Text &text) const { return AsideText<most>(cut(text, most)); }

    // A text that is part of what is kept there begins where that does.
    HD_DEVICE void put(KeptText &to, const Text &from) const {
        if (!fits(to, from.n)) return;
        if (from.n && from.from != to.at) hd::memcpy(const_cast<char *>(to.at), from.from, from.n);
        to.n = static_cast<uint32_t>(from.n);
    }

    // Pieces behind the first `upto` bytes.
    template <class... Piece> HD_DEVICE void append(KeptText &to, size_t upto, const Piece &...pieces) const {
        const uint64_t n = upto + (static_cast<uint64_t>(pieces.size()) + ... + 0);
        if (!fits(to, n)) return;
        char *end = const_cast<char *>(to.at) + upto;
        ((end = pieces.write(end)), ...);
        to.n = static_cast<uint32_t>(n);
    }

 private:
    HD_DEVICE bool fits(const KeptText &to, uint64_t n) const {
        if (n >= to.room) leaving.note(Status::outside_object);
        return n < to.room;
    }
};

}  // namespace hd
