// The pieces of text and integers: %s %c %d %i %u %o %x %X. See format.cuh.
#pragma once

#include "libc/powers.cuh"
#include "libc/strings.cuh"

namespace hd {

constexpr uint32_t flag_minus = 1, flag_plus = 2, flag_space = 4, flag_hash = 8, flag_zero = 16;

// A conversion with flags. `conversion` is its letter (d i u o x X c s f F e E g G a A), precision -1: none.
struct Spec {
    uint32_t flags;
    int width;
    int precision;
    char conversion;

    HD_DEVICE bool has(uint32_t flag) const { return flags & flag; }
};

// width 0: none; a negative one (from `*`) is the '-' flag, a negative precision none at all, as in C.
HD_DEVICE Spec spec(uint32_t flags, int width, int precision, char conversion) {
    if (width < 0) {
        flags |= flag_minus;
        width = -width;
    }
    return {flags, width, precision < 0 ? -1 : precision, conversion};
}

// Writes forwards, up to `end`.
struct Cursor {
    char *at;
    char *end;

    HD_DEVICE void put(char c) {
        if (at < end) *at++ = c;
    }
    HD_DEVICE void fill(char c, int n) {
        for (; n > 0 && at < end; --n) *at++ = c;
    }
    HD_DEVICE void copy(const char *from, size_t n) {
        const size_t room = static_cast<size_t>(end - at);
        if (n > room) n = room;
        hd::memcpy(at, from, n);
        at += n;
    }
    HD_DEVICE void skip(int n) { at = end - at < n ? end : at + n; }
    // What stands before a number's digits: spaces, sign or 0x, zeros.
    template <class Number>
    HD_DEVICE void begin(const Number &number) {
        if (!number.left) fill(' ', number.pad);
        copy(number.prefix, number.prefix_length);
        fill('0', number.zeros);
    }
};

// All of a piece that writes itself by `clip`; where it ends.
template <class Piece>
HD_DEVICE char *write_whole(const Piece &piece, char *to) {
    const size_t size = piece.size();
    piece.clip(to, size);
    return to + size;
}

// Decimal digits of a value; 1 for 0.
HD_DEVICE int decimal_length(uint64_t value) {
    const int bits = 64 - leading_zeros(value | 1);
    const int least = (bits * 1233) >> 12;  // floor(bits * log10(2)) for bits <= 64
    return least + (least == 0 || value >= small_tens[least]);
}

// The last `n` decimal digits of `value` at [to, to + n), zeros in front; what would lie at or after `end` is left out.
HD_DEVICE void put_decimal(char *to, const char *end, uint64_t value, int n) {
    for (; n > 0 && value >> 32; value /= 10)
        if (to + --n < end) to[n] = static_cast<char>('0' + value % 10);
    uint32_t rest = static_cast<uint32_t>(value);  // divisions of 32 bits are much cheaper
    for (; n > 0; rest /= 10)
        if (to + --n < end) to[n] = static_cast<char>('0' + rest % 10);
}

struct Text {
    const char *from;
    size_t n;

    HD_DEVICE size_t size() const { return n; }
    HD_DEVICE char *write(char *to) const { return static_cast<char *>(hd::mempcpy(to, from, n)); }
    HD_DEVICE void clip(char *to, size_t room) const { hd::memcpy(to, from, room); }
};

// Text of the program's own format, known when it is compiled.
struct Literal : Text {};

HD_DEVICE Literal text(const char *from, size_t n) { return {{from, n}}; }
HD_DEVICE Text bytes(const void *from, size_t n) { return {static_cast<const char *>(from), n}; }
HD_DEVICE Text str(const char *s) { return s ? Text{s, hd::strlen(s)} : Text{"(null)", 6}; }

struct Character {
    char c;

    HD_DEVICE size_t size() const { return 1; }
    HD_DEVICE char *write(char *to) const {
        *to = c;
        return to + 1;
    }
    HD_DEVICE void clip(char *to, size_t room) const {
        if (room) *to = c;
    }
};

HD_DEVICE Character chr(int c) { return {static_cast<char>(c)}; }

// %d, %u and their long forms without flags.
struct Decimal {
    uint64_t magnitude;
    int digits;
    bool negative;

    HD_DEVICE size_t size() const { return static_cast<size_t>(digits + negative); }
    HD_DEVICE char *write(char *to) const {
        char *const end = to + digits + negative;
        if (negative) *to++ = '-';
        put_decimal(to, end, magnitude, digits);
        return end;
    }
    HD_DEVICE void clip(char *to, size_t room) const {
        const char *const end = to + room;
        if (negative && room) *to = '-';
        put_decimal(to + negative, end, magnitude, digits);
    }
};

HD_DEVICE Decimal dec(unsigned long long value) { return {value, decimal_length(value), false}; }
HD_DEVICE Decimal dec(unsigned long value) { return dec(static_cast<unsigned long long>(value)); }
HD_DEVICE Decimal dec(unsigned value) { return dec(static_cast<unsigned long long>(value)); }
HD_DEVICE Decimal dec(long long value) {
    const bool negative = value < 0;
    const uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    return {magnitude, decimal_length(magnitude), negative};
}
HD_DEVICE Decimal dec(long value) { return dec(static_cast<long long>(value)); }
HD_DEVICE Decimal dec(int value) { return dec(static_cast<long long>(value)); }

// %s and %c with a width: `pad` spaces before (or after, `left`) the text.
struct PaddedText {
    const char *from;  // null: the one character
    size_t n;
    int pad;
    bool left;
    char one;

    HD_DEVICE size_t size() const { return n + static_cast<size_t>(pad); }
    HD_DEVICE char *write(char *to) const { return write_whole(*this, to); }
    HD_DEVICE void clip(char *to, size_t room) const {
        Cursor out{to, to + room};
        if (!left) out.fill(' ', pad);
        out.copy(from ? from : &one, n);
        out.fill(' ', pad);  // to the end of the piece where the padding stands after the text, else nothing is left
    }
};

HD_DEVICE PaddedText padded(const Spec &s, const char *from, size_t n, char one) {
    const size_t width = static_cast<size_t>(s.width);
    return {from, n, n < width ? static_cast<int>(width - n) : 0, s.has(flag_minus), one};
}

HD_DEVICE PaddedText str(const Spec &s, const char *from) {
    const size_t most = static_cast<size_t>(s.precision);  // none: SIZE_MAX
    if (!from) return padded(s, "(null)", s.precision < 0 || s.precision >= 6 ? 6 : 0, 0);  // all of it, or nothing
    return padded(s, from, hd::strnlen(from, most), 0);
}

HD_DEVICE PaddedText chr(const Spec &s, int c) { return padded(s, nullptr, 1, static_cast<char>(c)); }

// %d %i %u %o %x %X with flags: spaces, prefix (sign or 0x), zeros, digits, spaces.
struct Number {
    uint64_t magnitude;
    int digits, zeros, pad;
    char prefix[2];
    uint8_t prefix_length;
    uint8_t base_bits;  // 0: decimal
    bool upper, left;

    HD_DEVICE size_t size() const { return static_cast<size_t>(pad + prefix_length + zeros + digits); }
    HD_DEVICE char *write(char *to) const { return write_whole(*this, to); }
    HD_NOINLINE void clip(char *to, size_t room) const {
        Cursor out{to, to + room};
        out.begin(*this);
        if (base_bits)
            put_powers_of_two(out);
        else
            put_decimal(out.at, out.end, magnitude, digits);
        out.skip(digits);
        if (left) out.fill(' ', pad);
    }

private:
    HD_DEVICE void put_powers_of_two(const Cursor &out) const {
        uint64_t rest = magnitude;
        for (int n = digits; n > 0; rest >>= base_bits) {
            const int digit = static_cast<int>(rest & ((1u << base_bits) - 1));
            const int letter = digit - 10 + (upper ? 'A' : 'a');
            if (out.at + --n < out.end) out.at[n] = static_cast<char>(digit < 10 ? '0' + digit : letter);
        }
    }
};

// Sets what depends on the others: digits, zeros and padding.
HD_DEVICE void lay_out(Number &number, const Spec &s) {
    const int bits = 64 - leading_zeros(number.magnitude | 1);
    const int base_bits = number.base_bits;
    number.digits = base_bits ? (bits + base_bits - 1) / base_bits : decimal_length(number.magnitude);
    if (s.precision == 0 && number.magnitude == 0) number.digits = 0;
    number.zeros = s.precision > number.digits ? s.precision - number.digits : 0;
    const bool first_is_zero = number.zeros || (number.digits && number.magnitude == 0);
    if (s.conversion == 'o' && s.has(flag_hash) && !first_is_zero) number.zeros = 1;
    const int pad = s.width - number.prefix_length - number.zeros - number.digits;
    number.pad = pad > 0 ? pad : 0;
    if (s.has(flag_zero) && !s.has(flag_minus) && s.precision < 0) {
        number.zeros += number.pad;
        number.pad = 0;
    }
}

HD_DEVICE Number integer(const Spec &s, long long value) {
    Number number{};
    number.magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    number.prefix[0] = value < 0 ? '-' : s.has(flag_plus) ? '+' : ' ';
    number.prefix_length = value < 0 || s.has(flag_plus | flag_space);
    number.left = s.has(flag_minus);
    lay_out(number, s);
    return number;
}

HD_DEVICE Number natural(const Spec &s, unsigned long long value) {
    Number number{};
    number.magnitude = value;
    number.base_bits = s.conversion == 'o' ? 3 : s.conversion == 'u' ? 0 : 4;
    number.upper = s.conversion == 'X';
    if (number.base_bits == 4 && s.has(flag_hash) && value) {
        number.prefix[0] = '0';
        number.prefix[1] = s.conversion;
        number.prefix_length = 2;
    }
    number.left = s.has(flag_minus);
    lay_out(number, s);
    return number;
}

}  // namespace hd
