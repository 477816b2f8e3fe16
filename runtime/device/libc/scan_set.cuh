// What a scanf format says: directives, and the sets of %[...], read as glibc 2.36 reads them. See scan.cuh.
#pragma once

#include "libc/ctype.cuh"

namespace hd {

// One conversion: %[*][width][length]letter.
struct ScanDirective {
    enum Length : uint8_t { none, hh, h, l, foreign };  // l: all of 64 bits; foreign: not treated here
    bool stores;
    int width;  // -1: none
    Length length;
    char letter;
};

HD_DEVICE ScanDirective::Length read_length(const char *&format) {
    const char first = *format;
    if (first == 'L' || first == 'm') return ScanDirective::foreign;
    if (first != 'h' && first != 'l' && first != 'q' && first != 'j' && first != 'z' && first != 't')
        return ScanDirective::none;
    ++format;
    const bool twice = (first == 'h' || first == 'l') && *format == first;
    format += twice;
    if (first == 'h') return twice ? ScanDirective::hh : ScanDirective::h;
    return ScanDirective::l;
}

// Reads a directive. `format` is behind its '%', and is moved behind its letter (0 where the format ends).
HD_DEVICE ScanDirective read_directive(const char *&format) {
    ScanDirective directive{true, -1, ScanDirective::none, 0};
    long width = 0;
    for (; *format == '*'; ++format) directive.stores = false;
    for (; digit_char(*format); ++format)
        if (width < 1 << 24) width = width * 10 + (*format - '0');
    if (width) directive.width = static_cast<int>(width);
    directive.length = read_length(format);
    if (*format == '$' || *format == '\'' || *format == 'I') directive.length = ScanDirective::foreign;
    directive.letter = *format;
    if (*format) ++format;
    return directive;
}

// The bytes that %[...] takes.
struct ScanSet {
    uint32_t word[8];

    HD_DEVICE bool has(int c) const { return word[c >> 5] >> (c & 31) & 1; }
    HD_DEVICE void add(int c) { word[c >> 5] |= 1u << (c & 31); }

    // `format` is behind the '[', and is moved behind the ']'. False where there is none.
    HD_DEVICE bool read(const char *&format) {
        for (uint32_t &bits : word) bits = 0;
        const bool inverted = *format == '^';
        format += inverted;
        const char *const first = format;
        while (*format && (*format != ']' || format == first)) {
            const int c = static_cast<unsigned char>(*format++);
            const int after = static_cast<unsigned char>(*format);
            const int before = format - 1 > first ? static_cast<unsigned char>(format[-2]) : 256;
            if (c == '-' && after && after != ']' && before <= after)
                for (int i = before; i < after; ++i) add(i);  // the last one is added as a character of its own
            else
                add(c);
        }
        if (inverted)
            for (uint32_t &bits : word) bits = ~bits;
        if (!*format) return false;
        ++format;
        return true;
    }
};

}  // namespace hd
