// The pieces of %f %e %g %a: exact for every double, rounded half to even as glibc does in its default rounding mode.
// See format.cuh. A NaN prints its sign bit; whether that bit is the one the CPU would have is for the caller to know.
#pragma once

#include "libc/format_text.cuh"
#include "libc/round_decimal.cuh"

namespace hd {

// spaces, prefix (sign, 0x), zeros, `head` digits, point, `tail` digits, exponent, spaces.
struct Real {
    enum Kind : uint8_t { word, quick, exact, hexadecimal };
    double value;          // its absolute value
    uint64_t head, tail;   // quick and hexadecimal: the digits before and after the point
    Rounded rounded;       // exact
    int head_digits, tail_digits;
    int zeros, pad;
    int exponent;
    char prefix[3];
    uint8_t prefix_length;
    uint8_t exponent_digits;  // without its letter and sign
    char exponent_letter;     // 0: no exponent
    Kind kind;
    bool point, upper, left;

    HD_DEVICE size_t size() const {
        const int exponent_size = exponent_letter ? 2 + exponent_digits : 0;
        return static_cast<size_t>(pad + prefix_length + zeros + head_digits + point + exponent_size) +
               static_cast<size_t>(tail_digits);
    }
    HD_DEVICE char *write(char *to) const { return write_whole(*this, to); }
    HD_NOINLINE void clip(char *to, size_t room) const {
        Cursor out{to, to + room};
        out.begin(*this);
        if (kind == word)
            out.copy(is_nan(value) ? (upper ? "NAN" : "nan") : (upper ? "INF" : "inf"), 3);
        else if (kind == hexadecimal)
            put_hexadecimal(out);
        else if (kind == quick)
            put_quick(out);
        else
            put_exact(out);
        if (exponent_letter) put_exponent(out);
        if (left) out.fill(' ', pad);
    }

private:
    HD_DEVICE void put_quick(Cursor &out) const {
        put_decimal(out.at, out.end, head, head_digits);
        out.skip(head_digits);
        if (point) out.put('.');
        put_decimal(out.at, out.end, tail, tail_digits);
        out.skip(tail_digits);
    }

    HD_DEVICE void put_hexadecimal(Cursor &out) const {
        out.put(static_cast<char>('0' + head));
        if (point) out.put('.');
        for (int i = 0; i < tail_digits; ++i) {
            const int digit = i < 13 ? static_cast<int>(tail >> (48 - 4 * i) & 15) : 0;
            out.put(static_cast<char>(digit < 10 ? '0' + digit : digit - 10 + (upper ? 'A' : 'a')));
        }
    }

    // Puts digits, and the point where it belongs.
    struct Pointed {
        Cursor &out;
        int before;  // digits before the point
        bool point;

        HD_DEVICE void operator()(char digit) {
            out.put(digit);
            if (--before == 0 && point) out.put('.');
        }
    };

    HD_DEVICE void put_exact(Cursor &out) const {
        Pointed put{out, head_digits, point};
        const int leading = exponent_letter || rounded.exponent >= 0 ? 0 : -rounded.exponent;
        const int all = head_digits + tail_digits;
        if (rounded.kept == 0 || leading >= all) return put_zeros(put, all);
        put_zeros(put, leading);
        put_digits(parts_of(value), rounded, put);
        put_zeros(put, all - leading - rounded.kept);
    }

    HD_DEVICE static void put_zeros(Pointed &put, int n) {
        for (; n > 0; --n) put('0');
    }

    HD_DEVICE void put_exponent(Cursor &out) const {
        out.put(exponent_letter);
        out.put(exponent < 0 ? '-' : '+');
        put_decimal(out.at, out.end, static_cast<uint64_t>(exponent < 0 ? -exponent : exponent), exponent_digits);
        out.skip(exponent_digits);
    }
};

HD_DEVICE void set_exponent(Real &real, char letter, int exponent, int least_digits) {
    const int digits = decimal_length(static_cast<uint64_t>(exponent < 0 ? -exponent : exponent));
    real.exponent = exponent;
    real.exponent_letter = letter;
    real.exponent_digits = static_cast<uint8_t>(digits < least_digits ? least_digits : digits);
}

// %f of a value below 2^63 to at most 19 digits: 53 + 64 bits are enough for the scaled fraction.
HD_DEVICE void fixed_quickly(Real &real, Parts value, int precision) {
    const int shift = -value.exponent;  // a value of 2^53 and more has no fraction, and shift <= 0
    const uint64_t scale = small_tens[precision];
    real.kind = Real::quick;
    real.head = shift <= 0 ? value.mantissa << -shift : shift < 64 ? value.mantissa >> shift : 0;
    real.tail = 0;
    if (shift > 0 && shift < 128) {  // beyond that the scaled fraction is below 2^(117 - 128)
        const uint64_t fraction = shift < 64 ? value.mantissa & ((1ull << shift) - 1) : value.mantissa;
        const Wide scaled = static_cast<Wide>(fraction) * scale, half = static_cast<Wide>(1) << (shift - 1);
        const Wide rest = scaled & (half * 2 - 1);
        real.tail = static_cast<uint64_t>(scaled >> shift);
        const uint64_t last = precision ? real.tail : real.head;
        real.tail += rest > half || (rest == half && (last & 1));
    }
    if (real.tail >= scale) {
        ++real.head;
        real.tail -= scale;
    }
    real.head_digits = decimal_length(real.head);
}

HD_DEVICE void lay_out_fixed(Real &real, Parts value, int precision) {
    real.tail_digits = precision;
    if (precision <= 19 && value.exponent <= 10) return fixed_quickly(real, value, precision);
    real.kind = Real::exact;
    if (value.mantissa) real.rounded = round_exactly(value, true, precision);
    real.head_digits = real.rounded.exponent > 0 ? real.rounded.exponent + 1 : 1;
}

// The value's first `count` digits, rounded, as `rounded` and, if that was quick, as one number.
HD_DEVICE void round_digits(Real &real, Parts value, int count, uint64_t &digits) {
    digits = 0;
    real.kind = Real::quick;
    if (value.mantissa == 0) return;
    if (count <= 17 && round_quickly(value, count, digits, real.rounded.exponent)) {
        real.rounded.kept = count;
        return;
    }
    real.kind = Real::exact;
    real.rounded = round_exactly(value, false, count);
}

// Splits quick digits, `count` of them, at the point: `after` of them stand behind it.
HD_DEVICE void split_digits(Real &real, uint64_t digits, int after) {
    const uint64_t unit = after < 20 ? small_tens[after] : 0;  // 20 and more: 0.000ddd
    real.head = unit ? digits / unit : 0;
    real.tail = unit ? digits % unit : digits;
}

HD_DEVICE void lay_out_scientific(Real &real, Parts value, int precision, char letter) {
    uint64_t digits;
    // A precision of INT_MAX has no successor; no double has as many digits.
    round_digits(real, value, precision < 2000 ? precision + 1 : 2000, digits);
    real.head_digits = 1;
    real.tail_digits = precision;
    if (real.kind == Real::quick) split_digits(real, digits, value.mantissa ? precision : 0);
    set_exponent(real, letter, real.rounded.exponent, 2);
}

HD_DEVICE void lay_out_general(Real &real, Parts value, int precision, bool keep_zeros, char letter) {
    uint64_t digits;
    if (precision == 0) precision = 1;
    round_digits(real, value, precision, digits);
    const int exponent = real.rounded.exponent;
    const bool fixed = exponent >= -4 && exponent < precision;
    const int before = fixed ? exponent + 1 : 1;  // digits before the point; 0 and less: zeros after it
    int shown = precision;
    if (real.kind == Real::exact) {
        if (!keep_zeros) shown = real.rounded.kept;
    } else if (value.mantissa == 0) {
        if (!keep_zeros) shown = 1;
    } else if (!keep_zeros) {
        for (; shown > 1 && shown > before && digits % 10 == 0; digits /= 10) --shown;
    }
    // glibc loses the zeros that '#' asks for where rounding reaches 10^precision, the first number of the other style.
    const bool lost = keep_zeros && exponent == precision && precision <= 17 &&
                      real.value < static_cast<double>(small_tens[precision]);
    if (lost) shown = 1;
    if (shown < before) shown = before;
    if (lost && digits) digits = 1;
    real.head_digits = before > 0 ? before : 1;
    real.tail_digits = shown - before;
    if (real.kind == Real::quick) split_digits(real, digits, value.mantissa ? real.tail_digits : 0);
    if (!fixed) set_exponent(real, letter, exponent, 2);
}

HD_DEVICE void lay_out_hexadecimal(Real &real, double value, int precision, char letter) {
    const uint64_t bits = bits_of(value), biased = bits >> 52;
    uint64_t digits = (bits & (double_hidden - 1)) | (biased ? double_hidden : 0);  // 1 + 13 of them
    real.kind = Real::hexadecimal;
    if (precision >= 0 && precision < 13) {
        const int dropped = 52 - 4 * precision;
        const uint64_t half = 1ull << (dropped - 1), rest = digits & (half * 2 - 1);
        digits >>= dropped;
        digits += rest > half || (rest == half && (digits & 1));
        digits <<= dropped;
    }
    real.head = digits >> 52;
    real.tail = digits & (double_hidden - 1);
    real.head_digits = 1;
    real.tail_digits = precision < 0 ? 13 : precision;
    if (precision < 0)
        while (real.tail_digits && !(real.tail >> (52 - 4 * real.tail_digits) & 15)) --real.tail_digits;
    set_exponent(real, letter, biased ? static_cast<int>(biased) - 1023 : bits ? -1022 : 0, 1);
}

HD_DEVICE void lay_out_finite(Real &real, const Spec &s, char letter) {
    const int precision = s.precision < 0 ? 6 : s.precision;
    const Parts value = parts_of(real.value);
    const char e = real.upper ? 'E' : 'e';
    switch (letter) {
    case 'f': lay_out_fixed(real, value, precision); break;
    case 'e': lay_out_scientific(real, value, precision, e); break;
    case 'g': lay_out_general(real, value, precision, s.has(flag_hash), e); break;
    default:
        real.prefix[real.prefix_length++] = '0';
        real.prefix[real.prefix_length++] = real.upper ? 'X' : 'x';
        lay_out_hexadecimal(real, real.value, s.precision, real.upper ? 'P' : 'p');
    }
    real.point = real.tail_digits > 0 || s.has(flag_hash);
}

// %f %F %e %E %g %G %a %A.
HD_NOINLINE Real real(const Spec &s, double value) {
    Real real{};
    const bool negative = bits_of(value) >> 63;
    real.value = double_of(bits_of(value) & ~double_sign);
    real.upper = s.conversion < 'a';
    real.left = s.has(flag_minus);
    if (negative || s.has(flag_plus | flag_space))
        real.prefix[real.prefix_length++] = negative ? '-' : s.has(flag_plus) ? '+' : ' ';
    const bool finite = !is_nan(value) && !is_infinite(value);
    if (finite)
        lay_out_finite(real, s, static_cast<char>(s.conversion | 0x20));
    else
        real.head_digits = 3;  // the word
    const long pad = s.width - static_cast<long>(real.size());
    if (pad <= 0) return real;
    if (finite && s.has(flag_zero) && !real.left)
        real.zeros = static_cast<int>(pad);
    else
        real.pad = static_cast<int>(pad);
    return real;
}

}  // namespace hd
