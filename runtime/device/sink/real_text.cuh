// A value's text as a double or a float; included for a combiner that reads one.
#pragma once

#include "libc/parse_real.cuh"
#include "sink/numbers.cuh"

namespace hd {

// The digits that a number begins with, as read_digits keeps them.
struct RealDigits {
    NumberText number{0, 0, 0, false, false, nullptr, nullptr};

    // Takes those at `c`; false: there are none. `point`: they stand behind it.
    HD_DEVICE bool take(const char *&c, const char *end, bool point) {
        const char *const start = c;
        for (; c != end && digit_char(*c); ++c) {
            const unsigned digit = static_cast<unsigned>(*c - '0');
            if (number.count == 0 && digit) number.first = c;
            if (number.count < 19) {
                number.mantissa = number.mantissa * 10 + digit;
                number.count += number.count || digit;
                number.exponent -= point;
            } else {
                number.more |= digit != 0;
                number.exponent += !point;
            }
        }
        number.any = true;
        number.end = c;
        return c != start;
    }
};

// The bits of a number that is no product or quotient of two exact doubles.
HD_NOINLINE uint64_t real_bits(NumberText number, bool is_float) {
    int err = 0;
    return decimal_bits(err, number, is_float ? float_format() : double_format());
}

// -?digits[.digits][e[+-]digits] of at most 100 bytes, finite.
template <class Number> HD_DEVICE bool ValueText::real(Number &to) {
    constexpr uint64_t exact = 1ull << 53;
    const char *c = at;
    const bool negative = c != end && *c == '-';
    c += negative;
    RealDigits digits;
    NumberText &number = digits.number;
    number.first = number.end = c;
    if (!digits.take(c, end, false)) return false;
    if (c != end && *c == '.' && !digits.take(++c, end, true)) return false;
    if (c != end && *c == 'e') {
        const char *digit = c + 1;
        if (digit != end && (*digit == '-' || *digit == '+')) ++digit;
        if (digit == end || !digit_char(*digit)) return false;
        const bool below = c[1] == '-';
        long exponent = 0;
        for (; digit != end && digit_char(*digit); ++digit)
            if (exponent < 1000000000) exponent = exponent * 10 + (*digit - '0');
        number.exponent += below ? -exponent : exponent;
        c = digit;
    }
    if (c - at > 100) return false;
    at = c;
    const long power = number.exponent;
    if constexpr (sizeof(Number) == sizeof(float)) {
        to = float_of(static_cast<uint32_t>(real_bits(number, true)));
    } else if (!number.more && number.mantissa <= exact && power >= -19 && power <= 0) {
        to = static_cast<double>(number.mantissa) / static_cast<double>(small_tens[-power]);
    } else {
        to = double_of(real_bits(number, false));
    }
    if (negative) to = -to;
    return !is_infinite(to);
}

}  // namespace hd
