// Where lines and keys end in a piece of output.
//
// A print is short as a rule: its text is put together in a lane's own memory, and goes to the arena in words of 8 bytes,
// which are looked at on the way. Byte by byte, and read back from the arena, word count's map took 1.45 times as long.
#pragma once

#include "lane/words.cuh"

namespace hd {

constexpr uint32_t nowhere = 0xffffffffu;
constexpr uint32_t short_text = 64;  // bytes; larger texts are written where they stay

struct Marks {
    uint32_t lines = 0;          // newlines
    uint32_t newline = nowhere;  // offset of the first
    uint32_t tab = nowhere;      // offset of the first tab
    bool carriage_return = false;

    // `size` bytes, whatever they are.
    HD_DEVICE void add(const char *text, uint32_t size) {
        for (uint32_t i = 0; i < size; ++i) {
            if (text[i] == '\n' && lines++ == 0) newline = i;
            if (text[i] == '\t' && tab == nowhere) tab = i;
            if (text[i] == '\r') carriage_return = true;
        }
    }

    // The 8 bytes at `offset`, of which those with a flag in `within` count.
    HD_DEVICE void add_word(uint64_t word, uint64_t within, uint32_t offset) {
        const uint64_t newlines = bytes_equal(word, '\n') & within, tabs = bytes_equal(word, '\t') & within;
        if (newlines && lines == 0) newline = offset + lowest_byte(newlines);
        if (tabs && tab == nowhere) tab = offset + lowest_byte(tabs);
        lines += count_bits(newlines);
        carriage_return |= (bytes_equal(word, '\r') & within) != 0;
    }

    // Copies `size` bytes, both ends at a multiple of 8, with what lies behind them up to the next.
    HD_DEVICE void add_copied(char *to, const uint64_t *from, uint32_t size) {
        for (uint32_t at = 0; at < size; at += 8) {
            const uint64_t word = from[at / 8];
            *reinterpret_cast<uint64_t *>(to + at) = word;
            add_word(word, size - at < 8 ? first_bytes(size - at) : top_bits, at);
        }
    }
};

}  // namespace hd
