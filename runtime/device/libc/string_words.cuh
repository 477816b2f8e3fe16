// Strings by words of four bytes (the paper's char4, sections 4.1 and 4.2), where two lie alike in their words. What is
// left, the last few bytes and strings that lie otherwise, is their callers' to do byte by byte.
//
// A string's last word is read whole: it holds a byte of the string, so it can be read, whatever lies behind. g++ must not
// see which array that is: it concludes from an array's size how often a loop can go round.
#pragma once

#include "lane/base.cuh"

namespace hd {

#ifdef __CUDACC__
#define HD_WHOLE_WORDS HD_DEVICE
#else
#define HD_WHOLE_WORDS inline __attribute__((no_sanitize("address")))
#endif

HD_WHOLE_WORDS uint32_t aligned_word(const char *at) {
#ifndef __CUDACC__
    asm("" : "+r"(at));
#endif
    return *static_cast<const uint32_t *>(static_cast<const void *>(at));
}

#undef HD_WHOLE_WORDS

HD_DEVICE bool lie_alike(const char *a, const char *b) {
    return HD_WORD_STRINGS && ((reinterpret_cast<uintptr_t>(a) ^ reinterpret_cast<uintptr_t>(b)) & 3) == 0;
}

HD_DEVICE bool aligned(const char *at) { return (reinterpret_cast<uintptr_t>(at) & 3) == 0; }
HD_DEVICE bool ends_within(uint32_t word) { return ((word - 0x01010101u) & ~word & 0x80808080u) != 0; }

// Moves both behind what they have in common, as far as that goes by words.
HD_DEVICE void skip_equal_words(const char *&a, const char *&b) {
    if (!lie_alike(a, b)) return;
    for (; !aligned(a); ++a, ++b)
        if (!*a || *a != *b) return;
    for (;; a += 4, b += 4) {
        const uint32_t word = aligned_word(a);
        if (word != aligned_word(b) || ends_within(word)) return;
    }
}

// Copies up to the word that holds the end, and moves both to what is left.
HD_DEVICE void copy_words(char *&to, const char *&from) {
    if (!lie_alike(to, from)) return;
    for (; !aligned(from); ++to, ++from) {
        if (!*from) return;
        *to = *from;
    }
    for (uint32_t word; !ends_within(word = aligned_word(from)); to += 4, from += 4)
        __builtin_memcpy(__builtin_assume_aligned(to, 4), &word, 4);
}

}  // namespace hd
