// Numbers of a pair's value as the combiner's variables hold them: from what the program printed, without a text between, or from
// its text. Only what reads back the same is taken (runtime/host/collect/pair_check.cpp has the same rules). Of host kernels, and
// of a device's combine kernel that is a key loop.
#pragma once

#include <type_traits>

#include "libc/format_text.cuh"

namespace hd {

template <class T> constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0);

// -magnitude or magnitude; false: it does not fit, or is negative for a type without a sign.
template <class T> HD_DEVICE bool hold(T &number, uint64_t magnitude, bool negative) {
    constexpr uint64_t most = ~0ull >> (64 - 8 * sizeof(T) + is_signed<T>);
    if (negative && !is_signed<T>) return false;
    number = static_cast<T>(negative ? 0 - magnitude : magnitude);
    return magnitude <= most + negative;
}

// A number that was printed by %d or the like. A floating one is exact or rounded once, as strtod and strtof round its text.
template <class T> HD_DEVICE bool take(T &number, const Decimal &printed) {
    if constexpr (std::is_floating_point_v<T>) {
        number = static_cast<T>(printed.magnitude);
        if (printed.negative) number = -number;
        return true;
    } else {
        return hold(number, printed.magnitude, printed.negative);
    }
}

// The text of a value, from left to right. Each call returns whether what it is to read stands there.
struct ValueText {
    const char *at, *end;

    HD_DEVICE bool at_end() const { return at == end; }

    HD_DEVICE bool is(const char *text, size_t n) {
        if (static_cast<size_t>(end - at) < n) return false;
        for (size_t i = 0; i < n; ++i)
            if (at[i] != text[i]) return false;
        at += n;
        return true;
    }

    // -?digits, at most 20 bytes of them, with nothing else of what C reads as a number.
    template <class Number> HD_DEVICE bool number(Number &to) {
        if constexpr (std::is_floating_point_v<Number>)
            return real(to);
        else
            return integer(to);
    }

 private:
    static constexpr int most_bytes = 20;  // of an integer, its sign among them

    template <class Number> HD_DEVICE bool integer(Number &to) {
        constexpr uint64_t most = ~uint64_t{0} / 10;
        const bool negative = at != end && *at == '-';
        const char *digit = at + negative;
        uint64_t magnitude = 0;
        bool fits = true;
        const char *const first = digit;
        for (; digit != end && static_cast<unsigned>(*digit - '0') < 10; ++digit) {
            const unsigned number = static_cast<unsigned>(*digit - '0');
            fits &= magnitude < most || (magnitude == most && number <= ~uint64_t{0} % 10);
            magnitude = magnitude * 10 + number;
        }
        const char *const start = at;
        at = digit;
        return digit != first && digit - start <= most_bytes && fits && hold(to, magnitude, negative);
    }

    template <class Number> HD_DEVICE bool real(Number &to);  // real_text.cuh, of a combiner that reads one
};

}  // namespace hd
