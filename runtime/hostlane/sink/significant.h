// Floating numbers of a pair without their text: a double that is printed with so many digits that it reads back as that double,
// and one that is printed with few, which is the quotient of two whole numbers then.
#pragma once

#include "libc/format_real.cuh"
#include "sink/numbers.cuh"

namespace hd {

// 10^zeros, and what divides by it where nothing is left: its odd part's inverse among the numbers of 64 bits.
template <unsigned zeros> struct Tens {
    static constexpr uint64_t odd = Tens<zeros / 2>::odd * Tens<zeros / 2>::odd;
    static constexpr uint64_t unit = odd << zeros;
};
template <> struct Tens<1> {
    static constexpr uint64_t odd = 5, unit = 10;
};
constexpr uint64_t inverse(uint64_t odd) {
    uint64_t found = odd;
    for (int bits = 3; bits < 64; bits *= 2) found *= 2 - odd * found;
    return found;
}

// Takes `zeros` zeros off the end of a number, if it has them. No branch: what a number ends in nobody can tell beforehand.
template <unsigned zeros> HD_DEVICE void strip(uint64_t &digits, int &shown) {
    constexpr uint64_t by = inverse(Tens<zeros>::odd);
    const uint64_t product = digits * by, without = product >> zeros | product << (64 - zeros);
    const bool ends = without <= ~uint64_t{0} / Tens<zeros>::unit;
    digits = ends ? without : digits;
    shown -= ends ? static_cast<int>(zeros) : 0;
}

// A value's first 17 digits as a number, rounded as printf does, and the exponent of the first. By one exact product where it lies
// between a thousandth and 2^53, else as all are printed; false: that could not tell.
HD_DEVICE bool seventeen_digits(const Parts &value, uint64_t &digits, int &exponent) {
    const int leading = leading_zeros(value.mantissa), binary = value.exponent - leading, shift = -value.exponent;
    const int least = ((binary + 63) * 78913) >> 18;  // floor(log10(2^(binary + 63))): the value's exponent, or one less
    if (__builtin_expect(least < -3 || shift <= 0, 0)) return round_quickly(value, 17, digits, exponent);
    const uint64_t next = tens[least + 1 - min_ten].high;
    exponent = least + ((binary == ten_exponent(least + 1) + 64) & (value.mantissa << leading >= next));
    const Wide product = static_cast<Wide>(value.mantissa) * small_tens[16 - exponent];
    const uint64_t low = static_cast<uint64_t>(product), high = static_cast<uint64_t>(product >> 64);
    const uint64_t half = uint64_t{1} << (shift - 1), rest = low & (2 * half - 1);
    digits = high << (64 - shift) | low >> shift;
    digits += (rest > half) | ((rest == half) & digits & 1);
    return digits - small_tens[16] < 9 * small_tens[16];  // rounding does not make it one digit more
}

// Bytes of "%.17g" of a finite value.
HD_DEVICE size_t general_bytes(double value) {
    constexpr int most = 17;
    const size_t sign = bits_of(value) >> 63;
    const Parts parts = parts_of(value);
    if (parts.mantissa == 0) return sign + 1;
    uint64_t digits;
    int exponent;
    if (__builtin_expect(!seventeen_digits(parts, digits, exponent), 0)) return real(spec(0, 0, most, 'g'), value).size();
    int shown = most;
    strip<16>(digits, shown);
    strip<8>(digits, shown);
    strip<4>(digits, shown);
    strip<2>(digits, shown);
    strip<1>(digits, shown);
    const bool fixed = exponent >= -4 && exponent < most;
    const int before = fixed ? exponent + 1 : 1;  // digits before the point
    if (shown < before) shown = before;
    const int head = before > 0 ? before : 1, tail = shown - before;
    return sign + static_cast<size_t>(head + (tail > 0) + tail + (fixed ? 0 : exponent >= 100 || exponent <= -100 ? 5 : 4));
}

// %g and %e of 17 significant digits and more, with nothing else.
struct Significant {
    double value;
    Spec form;
    size_t length;

    HD_DEVICE size_t size() const { return length; }
    HD_DEVICE char *write(char *to) const { return real(form, value).write(to); }
};

HD_DEVICE Significant significant(const Spec &form, double value) {
    const bool quick = form.conversion == 'g' && form.precision == 17 && !is_nan(value) && !is_infinite(value);
    return {value, form, quick ? general_bytes(value) : real(form, value).size()};
}

// The text is that of one number alone: of the double, and of the float that it is, where it is one.
template <class T> HD_DEVICE bool take(T &number, const Significant &printed) {
    if constexpr (std::is_floating_point_v<T>) {
        number = static_cast<T>(printed.value);
        return static_cast<double>(number) == printed.value && !is_infinite(printed.value);
    } else {
        return false;
    }
}

// %f, %g and the like. Only digits with a point between, which are all of the text, and a few of them.
template <class T> HD_DEVICE bool take(T &number, const Real &printed) {
    const bool negative = printed.prefix_length == 1 && printed.prefix[0] == '-';
    if (printed.kind != Real::quick || printed.exponent_letter || printed.pad || printed.zeros) return false;
    if (printed.prefix_length != negative || printed.point != (printed.tail_digits != 0)) return false;
    if constexpr (std::is_floating_point_v<T>) {
        constexpr uint64_t exact = uint64_t{1} << (sizeof(T) == sizeof(float) ? 24 : 53);  // so are tens up to 10^10, and 10^19
        constexpr int most_behind = sizeof(T) == sizeof(float) ? 10 : 19;
        if (printed.tail_digits > most_behind) return false;
        const uint64_t unit = small_tens[printed.tail_digits];
        const Wide digits = static_cast<Wide>(printed.head) * unit + printed.tail;
        if (digits > exact) return false;
        number = static_cast<T>(static_cast<int64_t>(digits)) / static_cast<T>(unit);
        if (negative) number = -number;
        return true;
    } else {
        return !printed.point && hold(number, printed.head, negative);
    }
}

}  // namespace hd
