// Loops that copy a text byte by byte: `while (i < n && line[i] != ' ') word[k++] = line[i++];` Some of the first rounds are done at
// once here, sixteen bytes at a time, and the program's own loop does the rest. See heterodoop/compiler/device/copy_ahead.py for
// what is known of such a loop.
//
// What was copied last is remembered: who prints it next finds it where it came from (`copied`). A processor waits long for
// sixteen bytes that were just written by less.
#pragma once

#include "lane/copied.h"
#include "libc/format_text.cuh"
#include "libc/string_loops.cuh"
#include "sink/key_words.h"

namespace hd {

// The least of some numbers, 2^20 at most, so that no index overflows (`rounds`).
HD_DEVICE uint64_t least() { return 1 << 20; }
template <class... Rest> HD_DEVICE uint64_t least(uint64_t first, Rest... rest) {
    const uint64_t other = least(rest...);
    return first < other ? first : other;
}

// How often a variable can be stepped while it is below `end`, or (upto) not above it: perhaps more often than said.
template <class Variable, class Number> HD_DEVICE uint64_t rounds(Variable variable, Number end, bool upto) {
    constexpr Variable most = Variable{1} << 30;
    if (variable < 0 || variable > most || end < 0) return 0;
    const uint64_t from = static_cast<uint64_t>(variable), to = static_cast<uint64_t>(end);
    return to > from ? to - from + (upto && to + 1) : to == from && upto;
}

// Bytes as a few ranges, the first of them and how many follow.
class ByteRanges {
    typedef unsigned char Bytes __attribute__((vector_size(16)));
    static constexpr unsigned most = 4;

 public:
    // Those for which `holds`.
    template <class Holds> explicit ByteRanges(Holds holds) {
        for (int c = 0; c < 256; ++c) {
            if (!holds(static_cast<char>(c))) continue;
            if (c == 0 || !holds(static_cast<char>(c - 1))) {
                if (count_ == most) {
                    count_ = 0;
                    return;
                }
                first_[count_] = Bytes{} + static_cast<unsigned char>(c);
                more_[count_++] = Bytes{};
            } else {
                more_[count_ - 1] += 1;
            }
        }
    }

    // False: there are none, or too many ranges.
    bool few() const { return count_ != 0; }

    // Which of the 16 bytes at `at` are among them: bit i for byte i.
    HD_BEYOND uint32_t matches(const char *at) const {
        typedef unsigned char Anywhere __attribute__((vector_size(16), aligned(1), may_alias));
        const Bytes bytes = *reinterpret_cast<const Anywhere *>(unknown(at));
        Bytes found = {};
        for (unsigned i = 0; i < count_; ++i) found |= reinterpret_cast<Bytes>(bytes - first_[i] <= more_[i]);
        return mask(found);
    }

 private:
    static uint32_t mask(Bytes found) {
#ifdef __SSE2__
        typedef char Signs __attribute__((vector_size(16)));
        return static_cast<uint32_t>(__builtin_ia32_pmovmskb128(reinterpret_cast<Signs>(found)));
#else
        uint32_t bits = 0;
        for (int i = 0; i < 16; ++i) bits |= static_cast<uint32_t>(found[i] & 1) << i;
        return bits;
#endif
    }

    Bytes first_[most], more_[most];
    unsigned count_ = 0;
};

// Up to 16 bytes, of which the first may be read and written in a page. The others of sixteen are written as they were, at once for
// the program: no branch depends on how long a word is.
HD_BEYOND void copy_part(char *to, const char *from, uint64_t n) {
#ifdef __SSE2__
    const char *const marks = reinterpret_cast<const char *>(byte_marks) + 16 - n;
    asm volatile(
        "movdqu (%[marks]), %%xmm0\n\tmovdqu (%[from]), %%xmm1\n\tmovdqu (%[to]), %%xmm2\n\t"
        "pand %%xmm0, %%xmm1\n\tpandn %%xmm2, %%xmm0\n\tpor %%xmm1, %%xmm0\n\tmovdqu %%xmm0, (%[to])"
        :
        : [marks] "r"(marks), [from] "r"(from), [to] "r"(to)
        : "memory", "xmm0", "xmm1", "xmm2");
#else
    copy_few(to, from, n);
#endif
}

// The bytes of sixteen, `most` of them, before the first that is one of `stops`, copied. Both places are in a page.
HD_BEYOND unsigned copy_step(const ByteRanges &stops, char *to, const char *from, uint64_t most) {
    const unsigned n = static_cast<unsigned>(__builtin_ctz(stops.matches(from) | 1u << 16));
    const unsigned bytes = n < most ? n : static_cast<unsigned>(most);
    if (__builtin_expect(bytes != 0, 1)) copy_part(to, from, bytes);
    return bytes;
}

HD_NOINLINE unsigned copy_further(const ByteRanges &stops, char *to, const char *from, uint64_t most, unsigned done) {
    for (unsigned n = 16; n == 16 && lies_in_page(from + done) && lies_in_page(to + done); done += n)
        n = copy_step(stops, to + done, from + done, most - done);
    return done;
}

// Copies at most `most` bytes, and none from the first on that is one of `stops`; how many it has copied. Nothing is touched that the
// loop would not touch: where it does no round, `to` may lead anywhere, and `from`, too, where there are none to be done.
HD_BEYOND unsigned copy_ahead(const ByteRanges &stops, char *to, const char *from, uint64_t most) {
    last_copied.to = nullptr;
    if (__builtin_expect(most == 0 || !stops.few() || !lies_in_page(from) || !lies_in_page(to), 0)) return 0;
    const unsigned n = copy_step(stops, to, from, most);
    if (__builtin_expect(n == 16, 0)) return copy_further(stops, to, from, most, n);
    last_copied = {to, from, n};
    return n;
}

// A string as `str` has it. Where it was copied, and is so still, it is the text where that came from.
HD_BEYOND Text copied(const char *s) {
    const Copied last = last_copied;
    if (__builtin_expect(last.to == s, 1)) {  // both lie in a page
        const uint32_t end = 1u << last.bytes;
        const uint32_t zeros = matches16(s, 0) & (2 * end - 1), others = ~equal16(s, last.from) & (end - 1);
        if (__builtin_expect((zeros ^ end | others) == 0, 1)) return {last.from, last.bytes};
    }
    return str(s);
}

}  // namespace hd
