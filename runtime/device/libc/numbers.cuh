// stdlib.h's conversions of text, as glibc's (library.cuh) in the C locale. `err` stands for errno: set where C sets it.
#pragma once

#include "libc/parse_real.cuh"

namespace hd {

// An integer of text: its absolute value, saturated, and whether it was too large for 64 bits.
struct ParsedInteger {
    uint64_t magnitude;
    bool negative, overflow;
};

HD_DEVICE void add_digit(ParsedInteger &parsed, int digit, int base) {
    const Wide next = static_cast<Wide>(parsed.magnitude) * static_cast<unsigned>(base) + static_cast<unsigned>(digit);
    parsed.overflow |= next >> 64 != 0;
    parsed.magnitude = static_cast<uint64_t>(next);
}

// Reads white space, sign, prefix and digits. *end (end may be null): after the last digit, or `s` where there is none.
HD_NOINLINE ParsedInteger parse_integer(const char *s, char **end, int base) {
    const char *const start = s;
    while (space_char(*s)) ++s;
    ParsedInteger parsed{0, *s == '-', false};
    if (*s == '-' || *s == '+') ++s;
    const bool zero = *s == '0';
    if (zero && (base == 0 || base == 16) && (s[1] | 0x20) == 'x') {
        base = 16;
        // Without a digit after it the prefix is a plain zero.
        s += digit_value(s[2]) < 16 ? 2 : 0;
    }
    if (HD_BINARY_INTEGERS && zero && (base == 0 || base == 2) && (s[1] | 0x20) == 'b') {
        base = 2;
        s += digit_value(s[2]) < 2 ? 2 : 0;
    }
    if (base == 0) base = zero ? 8 : 10;
    const char *const first = s;
    for (; digit_value(*s) < base; ++s) add_digit(parsed, digit_value(*s), base);
    if (end) *end = const_cast<char *>(s == first ? start : s);
    return parsed;
}

HD_DEVICE bool valid_base(int &err, int base) {
    if (base == 0 || (base >= 2 && base <= 36)) return true;
    err = error_invalid;
    return false;
}

HD_DEVICE long signed_value(int &err, const ParsedInteger &parsed) {
    const uint64_t most = parsed.negative ? 1ull << 63 : (1ull << 63) - 1;
    uint64_t magnitude = parsed.magnitude;
    if (parsed.overflow || magnitude > most) {
        err = error_range;
        magnitude = most;
    }
    return static_cast<long>(parsed.negative ? 0 - magnitude : magnitude);
}

HD_DEVICE unsigned long unsigned_value(int &err, const ParsedInteger &parsed) {
    if (!parsed.overflow) return parsed.negative ? 0 - parsed.magnitude : parsed.magnitude;
    err = error_range;
    return ~0ul;
}

HD_DEVICE long strtol(int &err, const char *s, char **end, int base) {
    return valid_base(err, base) ? signed_value(err, parse_integer(s, end, base)) : 0;
}

HD_DEVICE unsigned long strtoul(int &err, const char *s, char **end, int base) {
    return valid_base(err, base) ? unsigned_value(err, parse_integer(s, end, base)) : 0;
}

HD_DEVICE long long strtoll(int &err, const char *s, char **end, int base) { return hd::strtol(err, s, end, base); }
HD_DEVICE unsigned long long strtoull(int &err, const char *s, char **end, int base) {
    return hd::strtoul(err, s, end, base);
}
HD_DEVICE long strtoimax(int &err, const char *s, char **end, int base) { return hd::strtol(err, s, end, base); }
HD_DEVICE unsigned long strtoumax(int &err, const char *s, char **end, int base) { return hd::strtoul(err, s, end, base); }

// Up to 18 digits cannot overflow; longer numbers are read again.
HD_DEVICE long atol(int &err, const char *s) {
    const char *at = s;
    while (space_char(*at)) ++at;
    const bool negative = *at == '-';
    if (negative || *at == '+') ++at;
    const char *const first = at;
    unsigned long magnitude = 0;
    for (; digit_char(*at) && at - first < 18; ++at) magnitude = magnitude * 10 + static_cast<unsigned long>(*at - '0');
    if (digit_char(*at)) return hd::strtol(err, s, nullptr, 10);
    return static_cast<long>(negative ? 0 - magnitude : magnitude);
}

HD_DEVICE int atoi(int &err, const char *s) { return static_cast<int>(hd::atol(err, s)); }
HD_DEVICE long long atoll(int &err, const char *s) { return hd::atol(err, s); }

// For programs that do not look at errno.
HD_DEVICE long atol(const char *s) {
    int err;
    return hd::atol(err, s);
}
HD_DEVICE int atoi(const char *s) { return static_cast<int>(hd::atol(s)); }
HD_DEVICE long long atoll(const char *s) { return hd::atol(s); }

// -?digits[.digits], 18 digits at most, whose number is a quotient of two exact doubles, as most numbers of records are. False: it
// is another text, and nothing is set.
HD_DEVICE bool short_decimal(const char *s, char **end, double &value) {
    const bool negative = *s == '-';
    const char *at = s + negative, *const first = at;
    uint64_t mantissa = 0;
    for (; digit_char(*at); ++at) mantissa = mantissa * 10 + static_cast<uint64_t>(*at - '0');
    long digits = at - first, behind = 0;
    if (*at == '.') {
        const char *const point = ++at;
        for (; digit_char(*at); ++at) mantissa = mantissa * 10 + static_cast<uint64_t>(*at - '0');
        behind = at - point;
        digits += behind;
    }
    const char next = static_cast<char>(*at | 0x20);
    if (digits == 0 || digits > 18 || mantissa > 1ull << 53 || next == 'e' || next == 'x') return false;
    value = static_cast<double>(static_cast<int64_t>(mantissa)) / static_cast<double>(small_tens[behind]);
    if (negative) value = -value;
    if (end) *end = const_cast<char *>(at);
    return true;
}

HD_DEVICE double strtod(int &err, const char *s, char **end) {
    double value;
    if (HD_SHORT_DECIMALS && short_decimal(s, end, value)) return value;
    return double_of(parse_real(err, s, end, double_format()));
}

HD_DEVICE float strtof(int &err, const char *s, char **end) {
    return float_of(static_cast<uint32_t>(parse_real(err, s, end, float_format())));
}

HD_DEVICE double atof(int &err, const char *s) { return hd::strtod(err, s, nullptr); }
HD_DEVICE double atof(const char *s) {
    int err;
    return hd::strtod(err, s, nullptr);
}

}  // namespace hd
