// How pairs read back through a combiner's reader, and their size in Hadoop's counters. See audit.h.
#pragma once

#include "steps/audit.h"
#include "steps/grid.cuh"

namespace hd {

// White space of C's isspace in the "C" locale, and the NUL that would cut the string read.
HD_DEVICE bool ends_token(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0'; }

// Bytes of the longest number, its sign among them: what has more of them begins with zeros (host/collect/pair_check.cpp).
constexpr uint32_t most_number_bytes = 20;

// -?digits and nothing else, between -below and above: `number`, in two's complement. `below` 0: no sign at all.
HD_DEVICE bool reads_as(const char *text, uint32_t length, uint64_t below, uint64_t above, uint64_t &number) {
    const bool negative = length > 0 && text[0] == '-';
    if ((negative && below == 0) || length > most_number_bytes) return false;
    const uint64_t most = negative ? below : above;
    uint32_t i = negative ? 1 : 0;
    if (i == length) return false;
    number = 0;
    for (; i < length; ++i) {
        const uint32_t digit = static_cast<unsigned char>(text[i]) - '0';
        if (digit > 9 || number > (most - digit) / 10) return false;
        number = number * 10 + digit;
    }
    if (negative) number = 0 - number;
    return true;
}

// How far numbers of a kind reach below and above 0.
struct NumberRange {
    uint64_t below, above;
};

HD_DEVICE NumberRange range_of(ValueReader reader) {
    switch (reader) {
        case ValueReader::int32: return {0x80000000u, 0x7fffffffu};
        case ValueReader::int64: return {1ull << 63, ~0ull >> 1};
        case ValueReader::uint32: return {0, 0xffffffffu};
        default: return {0, ~0ull};
    }
}

HD_DEVICE bool number_reads_back(ValueReader reader, const char *text, uint32_t length, uint64_t &number) {
    const NumberRange range = range_of(reader);
    return reads_as(text, length, range.below, range.above, number);
}

HD_DEVICE bool is_digit(char c) { return static_cast<unsigned>(static_cast<unsigned char>(c) - '0') <= 9; }

// The bytes between the numbers `field` and `field` + 1 at text[at, length): moves `at` behind them.
HD_DEVICE bool passes_between(const ValueForm &form, uint32_t field, const char *text, uint32_t length, uint32_t &at) {
    const uint32_t size = form.between_size[field];
    if (length - at < size) return false;
    for (uint32_t i = 0; i < size; ++i)
        if (text[at + i] != form.between[field][i]) return false;
    at += size;
    return true;
}

// Calls take(field, number) for each number of a value, as long as it reads back: false where it does not. At most `Most`.
template <uint32_t Most, class Take>
HD_DEVICE bool value_reads_back(const ValueForm &form, const char *value, uint32_t length, Take take) {
    if (form.count == 0) return true;
    uint32_t at = 0;
    bool readable = true;
    HD_UNROLL
    for (uint32_t field = 0; field < Most; ++field) {
        if (field >= form.count || !readable) continue;
        uint32_t end = length;
        if (Most > 1 && field + 1 < form.count)
            for (end = at < length && value[at] == '-' ? at + 1 : at; end < length && is_digit(value[end]);) ++end;
        uint64_t number = 0;
        readable = number_reads_back(form.readers[field], value + at, end - at, number);
        at = end;
        if (readable && Most > 1 && field + 1 < form.count) readable = passes_between(form, field, value, length, at);
        if (readable) take(field, number);
    }
    return readable;
}

// Only printf's form of a number that may be a key: to the sort, two texts of one number are two keys.
template <class Args> HD_DEVICE bool key_reads_as_number(const Args &a, const char *key, uint32_t length) {
    const auto reader = static_cast<ValueReader>(static_cast<uint32_t>(a.key) - static_cast<uint32_t>(KeyReader::field));
    uint64_t number = 0;
    if (!number_reads_back(reader, key, length, number)) return false;
    const uint32_t sign = key[0] == '-' ? 1 : 0;
    if (key[sign] == '0' && length > 1) return false;
    return !a.has_none || number != a.none;
}

template <class Args> HD_DEVICE bool key_reads_back(const Args &a, const char *key, uint32_t length) {
    if (a.key == KeyReader::any) return true;
    if (a.longest_key && length > a.longest_key) return false;
    if (a.key > KeyReader::field) return key_reads_as_number(a, key, length);
    if (a.key == KeyReader::token && length == 0) return false;
    for (uint32_t i = 0; i < length; ++i)
        if (a.key == KeyReader::field ? key[i] == '\0' : ends_token(key[i])) return false;
    return true;
}

// Bytes that WritableUtils.writeVInt gives to a number that is not negative.
HD_DEVICE uint32_t vint_size(uint32_t n) {
    uint32_t size = 1;
    if (n > 127)
        for (uint32_t rest = n; rest != 0; rest >>= 8) ++size;
    return size;
}

// A Text's size: a vint of its length, and its bytes.
HD_DEVICE uint32_t text_size(uint32_t length) { return vint_size(length) + length; }

}  // namespace hd
