// What a scanf format does at the end of its input: whether a call that met the end of a work item did what the C program
// does, whose input goes on there. Conservative: a format that these do not know well is left to the CPU.
#pragma once

#include "lane/base.cuh"

namespace hd {

HD_DEVICE bool is_scan_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

HD_DEVICE bool only_space(const char *from, const char *to) {
    while (from != to && is_scan_space(*from)) ++from;
    return from == to;
}

// The letter of the conversion that starts at `at` (behind its '%'), and where that is.
HD_DEVICE const char *conversion_letter(const char *at) {
    while (*at && (*at == '*' || *at == '\'' || *at == 'm' || (*at >= '0' && *at <= '9') || *at == 'h' || *at == 'l' ||
                   *at == 'L' || *at == 'q' || *at == 'j' || *at == 'z' || *at == 't'))
        ++at;
    return at;
}

// Behind a conversion: past its letter, or past the ] of a set.
HD_DEVICE const char *after_conversion(const char *letter) {
    if (*letter != '[') return *letter ? letter + 1 : letter;
    ++letter;
    if (*letter == '^') ++letter;
    if (*letter == ']') ++letter;
    while (*letter && *letter != ']') ++letter;
    return *letter ? letter + 1 : letter;
}

// The first thing the format does is to skip white space.
HD_DEVICE bool skips_space_first(const char *format) {
    if (is_scan_space(*format)) return true;
    if (*format != '%') return false;
    const char letter = *conversion_letter(format + 1);
    return letter != 'c' && letter != '[' && letter != 'n' && letter != 'C' && letter != 0;
}

// The format has a conversion that may take white space but is not counted in the result.
HD_DEVICE bool has_uncounted_space(const char *format) {
    for (; *format; ++format)
        if (*format == '%') {
            const char *letter = conversion_letter(format + 1);
            if (format[1] == '*' && (*letter == 'c' || *letter == '[')) return true;
            format = after_conversion(letter) - 1;
        }
    return false;
}

// A call that met the end after `result` conversions had all that it wanted: its last one was a %c, or it had only to skip
// white space after them, which the next call does as well.
HD_DEVICE bool done_at_end(const char *format, int result) {
    const bool skips = skips_space_first(format);
    int count = 0;
    bool done = false, exact = false;
    for (; *format; ++format) {
        if (*format != '%') {
            done = done && is_scan_space(*format);
            exact = false;
            continue;
        }
        const char *letter = conversion_letter(format + 1);
        const bool counted = format[1] != '*' && *letter != 'n' && *letter != '%';
        count += counted;
        done = counted && *letter != '[';
        exact = counted && *letter == 'c' && letter == format + 1;  // with a width it takes less at the end
        format = after_conversion(letter) - 1;
    }
    return count == result && done && (exact || skips);
}

}  // namespace hd
