// Text to double and float, exactly rounded (half to even): decimal and hexadecimal, inf, nan, nan(payload), as glibc's
// strtod. Most numbers are decided by one product of 192 bits with known bounds of its error; the others by comparing the
// text, digit by digit, with the exact decimal expansion of the tie between the two candidates. One difference is known:
// glibc rounds some subnormal numbers the wrong way that are written out exactly, in more than a hundred decimal digits.
#pragma once

#include "libc/ctype.cuh"
#include "libc/decimal.cuh"
#include "libc/library.cuh"
#include "libc/powers.cuh"

namespace hd {

constexpr int error_range = 34, error_invalid = 22;  // ERANGE, EINVAL

// Of a digit in any base up to 36; 36 for other characters.
HD_DEVICE int digit_value(int c) {
    if (digit_char(c)) return c - '0';
    return alpha_char(c) ? (c | 0x20) - 'a' + 10 : 36;
}

// A binary format's mantissa bits, and the exponents of its mantissa's last bit.
struct BinaryFormat {
    int bits, min_exponent, max_exponent;

    HD_DEVICE int sign_bit() const { return bits == 53 ? 63 : 31; }
    HD_DEVICE uint64_t infinity() const { return static_cast<uint64_t>(max_exponent - min_exponent + 2) << (bits - 1); }
};

HD_DEVICE BinaryFormat double_format() { return {53, -1074, 971}; }
HD_DEVICE BinaryFormat float_format() { return {24, -149, 104}; }

// mantissa * 10^exponent (hexadecimal: 2^exponent); `more`: digits that are not zero were left out of the mantissa.
struct NumberText {
    uint64_t mantissa;
    long exponent;
    int count;  // digits in the mantissa
    bool more;
    bool any;   // there was a digit
    const char *first, *end;  // the first digit that is not zero, and where the digits end
};

// A value cut down to the format: mantissa * 2^exponent, and how it is to be rounded.
struct Cut {
    uint64_t mantissa;
    int exponent;
    bool up;       // the nearest is mantissa + 1
    bool inexact;
    bool at_least_3_4;  // what was cut off is three quarters of the last place or more
};

// Finishes a value: the bits of the format. Underflow, by x86's rule: inexact, and subnormal also if rounded to `bits`
// bits without a limit of the exponent.
HD_DEVICE uint64_t assemble(int &err, const BinaryFormat &format, const Cut &cut) {
    if (cut.exponent > format.max_exponent) {
        err = error_range;
        return format.infinity();
    }
    // A mantissa of 2^bits carries into the exponent, one of 2^(bits-1) makes a subnormal number normal.
    const uint64_t place = static_cast<uint64_t>(cut.exponent - format.min_exponent) << (format.bits - 1);
    const uint64_t result = place + cut.mantissa + cut.up;
    const uint64_t least_normal = 1ull << (format.bits - 1);
    const bool subnormal = result < least_normal || (result == least_normal && cut.up && !cut.at_least_3_4);
    if (result >= format.infinity() || (cut.inexact && subnormal && cut.exponent == format.min_exponent)) err = error_range;
    return result;
}

// digits [. digits]; base 10 keeps 19 of them, base 16 keeps 16.
HD_DEVICE NumberText read_digits(const char *s, bool hexadecimal) {
    NumberText number{0, 0, 0, false, false, s, s};
    const int most = hexadecimal ? 16 : 19, step = hexadecimal ? 4 : 1;
    bool point = false;
    for (;; ++s) {
        const char c = *s;
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (hexadecimal ? !hex_char(c) : !digit_char(c)) break;
        const unsigned digit = static_cast<unsigned>(digit_value(c));
        number.any = true;
        if (number.count == 0 && digit) number.first = s;
        if (number.count < most) {
            number.mantissa = number.mantissa * (hexadecimal ? 16 : 10) + digit;
            number.count += number.count || digit;
            number.exponent -= point ? step : 0;
        } else {
            number.more |= digit != 0;
            number.exponent += point ? 0 : step;
        }
    }
    number.end = s;
    return number;
}

// Adds an exponent part, if `s` is at one; returns where the number ends.
HD_DEVICE const char *read_exponent(const char *s, char letter, NumberText &number) {
    if ((*s | 0x20) != letter) return s;
    const char *at = s + 1;
    const bool negative = *at == '-';
    if (negative || *at == '+') ++at;
    if (!digit_char(*at)) return s;
    long exponent = 0;
    for (; digit_char(*at); ++at)
        if (exponent < 1000000000000000) exponent = exponent * 10 + (*at - '0');
    number.exponent += negative ? -exponent : exponent;
    return at;
}

// The sign of text - mantissa * 2^exponent.
HD_NOINLINE int compare_exactly(const NumberText &number, uint64_t mantissa, int exponent) {
    Expansion digits(mantissa, exponent);
    long lead = digits.lead;
    uint32_t chunk = digits.next();
    for (; chunk == 0; chunk = digits.next()) lead -= 9;
    int n = digits_of(chunk);
    lead -= 9 - n;
    const long text_lead = number.exponent + number.count - 1;
    if (text_lead != lead) return text_lead < lead ? -1 : 1;
    const char *at = number.first;
    for (;; chunk = digits.next(), n = 9) {
        while (n > 0) {
            if (at < number.end && *at == '.') ++at;
            const int expected = static_cast<int>(chunk / static_cast<uint32_t>(small_tens[--n]) % 10);
            const int digit = at < number.end ? *at++ - '0' : 0;
            if (digit != expected) return digit < expected ? -1 : 1;
        }
        if (digits.ended()) break;
    }
    for (; at < number.end; ++at)
        if (*at != '0' && *at != '.') return 1;
    return 0;
}

// Decides by exact comparison: `cut` holds the candidate below the value.
HD_NOINLINE void round_by_comparison(const NumberText &number, const BinaryFormat &format, Cut &cut) {
    const int side = compare_exactly(number, 2 * cut.mantissa + 1, cut.exponent - 1);
    cut.up = side > 0 || (side == 0 && (cut.mantissa & 1));
    cut.inexact = true;
    if (cut.exponent > format.min_exponent) return;  // whether it is inexact matters for subnormal numbers only
    const uint64_t nearest = cut.mantissa + cut.up;
    if (nearest) cut.inexact = side == 0 || compare_exactly(number, nearest, cut.exponent) != 0;
    if (cut.up && nearest == 1ull << (format.bits - 1))
        cut.at_least_3_4 = compare_exactly(number, 4 * cut.mantissa + 3, cut.exponent - 2) >= 0;
}

// number.mantissa != 0, exponent in the table.
HD_DEVICE Cut round_decimal(const NumberText &number, const BinaryFormat &format) {
    const int zeros = leading_zeros(number.mantissa), power = static_cast<int>(number.exponent);
    const uint64_t mantissa = number.mantissa << zeros;
    const Ten ten = tens[power - min_ten];
    const Wide low = static_cast<Wide>(mantissa) * ten.low;
    const Wide high = static_cast<Wide>(mantissa) * ten.high + (low >> 64);
    const int scale = ten_exponent(power) - zeros + 64;      // the value is about high * 2^scale
    const int top = 126 + static_cast<int>(high >> 127);     // of `high`'s highest bit
    const int normal = top + scale - (format.bits - 1);
    Cut cut{0, normal > format.min_exponent ? normal : format.min_exponent, false, true, false};
    if (cut.exponent > format.max_exponent) return cut;
    const int shift = cut.exponent - scale;
    cut.mantissa = shift < 128 ? static_cast<uint64_t>(high >> shift) : 0;
    if (cut.exponent > format.min_exponent) {
        // How much larger than `high` the true product may be: what was cut off ten, `low`, and the digits left out.
        const Wide exact_error = power >= 0 && power <= max_exact_ten ? 0 : 2;
        const Wide error = exact_error + (number.more ? static_cast<Wide>(1) << (64 + zeros) : 0);
        const Wide half = static_cast<Wide>(1) << (shift - 1), rest = high & (half * 2 - 1);
        if (error == 0) {
            cut.up = rest > half || (rest == half && (static_cast<uint64_t>(low) || (cut.mantissa & 1)));
            return cut;
        }
        if (rest + error <= half || rest > half) {
            cut.up = rest > half;
            return cut;
        }
    }
    round_by_comparison(number, format, cut);
    return cut;
}

HD_DEVICE uint64_t decimal_bits(int &err, const NumberText &number, const BinaryFormat &format) {
    if (number.mantissa == 0) return 0;
    if (format.bits == 53 && !number.more && number.mantissa <= 1ull << 53) {
        const long power = number.exponent;  // both operands are exact, so one rounding is all there is
        if (power >= 0 && power <= 19)
            return bits_of(static_cast<double>(number.mantissa) * static_cast<double>(small_tens[power]));
        if (power < 0 && power >= -19)
            return bits_of(static_cast<double>(number.mantissa) / static_cast<double>(small_tens[-power]));
    }
    if (number.exponent > max_ten || number.exponent < min_ten) {  // below: less than half the least number
        err = error_range;
        return number.exponent > 0 ? format.infinity() : 0;
    }
    return assemble(err, format, round_decimal(number, format));
}

HD_DEVICE uint64_t hexadecimal_bits(int &err, const NumberText &number, const BinaryFormat &format) {
    if (number.mantissa == 0) return 0;
    const int zeros = leading_zeros(number.mantissa);
    uint64_t mantissa = number.mantissa << zeros;
    long exponent = number.exponent - zeros;  // the value is mantissa * 2^exponent
    if (exponent > 5000) exponent = 5000;
    if (exponent < -5000) exponent = -5000;
    const int normal = static_cast<int>(exponent) + 64 - format.bits;
    Cut cut{0, normal > format.min_exponent ? normal : format.min_exponent, false, true, false};
    const int shift = cut.exponent - static_cast<int>(exponent);
    if (shift > 64) return assemble(err, format, cut);
    const uint64_t half = 1ull << (shift - 1);
    cut.at_least_3_4 = (mantissa & (half * 2 - 1)) >= half + half / 2;
    // Older glibc forgets this bit of a subnormal number, the first that a normal one would not have.
    if (!HD_EXACT_HEXADECIMALS && cut.exponent > normal) mantissa &= ~(1ull << (63 - format.bits));
    const uint64_t rest = mantissa & (half * 2 - 1);
    cut.mantissa = shift < 64 ? mantissa >> shift : 0;
    cut.up = rest > half || (rest == half && (number.more || (cut.mantissa & 1)));
    cut.inexact = rest || number.more;
    return assemble(err, format, cut);
}

// Lower case letters of `word` at s, in any case.
HD_DEVICE bool starts_with(const char *s, const char *word) {
    for (; *word; ++word, ++s)
        if ((*s | 0x20) != *word) return false;
    return true;
}

// After "nan": a payload in parentheses, by strtoull's rules in base 0, of which the format keeps the low bits.
HD_DEVICE uint64_t nan_payload(int &err, const char *s, const char *end) {
    int base = 10;
    if (*s == '0') {
        base = (s[1] | 0x20) == 'x' ? 16 : 8;
        if (base == 16) s += 2;
    }
    if (s == end) return 0;
    uint64_t payload = 0;
    bool overflow = false;
    for (; s < end && digit_value(*s) < base; ++s) {
        const int digit = digit_value(*s);
        const Wide next = static_cast<Wide>(payload) * static_cast<unsigned>(base) + static_cast<unsigned>(digit);
        overflow |= next >> 64 != 0;
        payload = static_cast<uint64_t>(next);
    }
    if (overflow && !HD_QUIET_PAYLOADS) err = error_range;
    return s < end ? 0 : overflow ? ~0ull : payload;
}

HD_DEVICE uint64_t nan_bits(int &err, const char *&s, const BinaryFormat &format) {
    const uint64_t quiet = 1ull << (format.bits - 2);
    uint64_t payload = 0;
    if (*s == '(') {
        const char *at = s + 1;
        while (digit_char(*at) || alpha_char(*at) || *at == '_') ++at;
        if (*at == ')') {
            payload = nan_payload(err, s + 1, at);
            s = at + 1;
        }
    }
    return format.infinity() | quiet | (payload & (quiet - 1));
}

// strtod to the format: the bits of the result. *end (end may be null): behind the number, or `s` where there is none.
HD_NOINLINE uint64_t parse_real(int &err, const char *s, char **end, const BinaryFormat &format) {
    const char *const start = s;
    while (space_char(*s)) ++s;
    const uint64_t sign = static_cast<uint64_t>(*s == '-') << format.sign_bit();
    if (*s == '-' || *s == '+') ++s;
    uint64_t bits = 0;
    if (starts_with(s, "inf")) {
        s += starts_with(s, "infinity") ? 8 : 3;
        bits = format.infinity();
    } else if (starts_with(s, "nan")) {
        s += 3;
        bits = nan_bits(err, s, format);
    } else {
        const bool prefix = *s == '0' && (s[1] | 0x20) == 'x';
        const bool hexadecimal = prefix && (hex_char(s[2]) || (s[2] == '.' && hex_char(s[3])));
        NumberText number = read_digits(s + (hexadecimal ? 2 : 0), hexadecimal);
        if (!number.any) {
            if (end) *end = const_cast<char *>(start);
            return 0;
        }
        s = read_exponent(number.end, hexadecimal ? 'p' : 'e', number);
        bits = hexadecimal ? hexadecimal_bits(err, number, format) : decimal_bits(err, number, format);
    }
    if (end) *end = const_cast<char *>(s);
    return bits | sign;
}

}  // namespace hd
