// A value's text as a double or a float; included for a combiner that reads one.
#pragma once

#include "libc/parse_real.cuh"
#include "sink/numbers.h"

namespace hd {

// -?digits[.digits][e[+-]digits] of at most 100 bytes, finite.
template <class T> bool ValueText::real(T &to) {
    char text[101];
    size_t n = 0;
    const char *c = at;
    const auto digits = [&] {
        const char *const first = c;
        while (c != end && digit_char(*c)) ++c;
        return c != first;
    };
    if (c != end && *c == '-') ++c;
    if (!digits()) return false;
    if (c != end && *c == '.') {
        ++c;
        if (!digits()) return false;
    }
    if (c != end && *c == 'e') {
        ++c;
        if (c != end && (*c == '-' || *c == '+')) ++c;
        if (!digits()) return false;
    }
    if (static_cast<size_t>(c - at) >= sizeof text) return false;
    while (at != c) text[n++] = *at++;
    text[n] = 0;
    int err = 0;
    if constexpr (sizeof(T) == sizeof(float))
        to = float_of(static_cast<uint32_t>(parse_real(err, text, nullptr, float_format())));
    else
        to = double_of(parse_real(err, text, nullptr, double_format()));
    return !is_infinite(to);
}

}  // namespace hd
