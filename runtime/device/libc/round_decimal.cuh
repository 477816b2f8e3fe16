// A double rounded to decimal digits, half to even: exactly, for any number of digits, and quickly for few.
#pragma once

#include "libc/decimal.cuh"
#include "libc/powers.cuh"

namespace hd {

// A rounded value: `kept` digits, the last of which is not zero, the first worth 10^exponent. `kept` is 0 for zero.
struct Rounded {
    int exponent;
    int kept;
    bool up;     // the digit kept last is one more than that of the unrounded value
    bool carry;  // all digits were nines: the value is 10^exponent
};

// Follows the digits that are kept: where the last digit stands that is not 0, and the last that is not 9.
struct DigitRun {
    int count = 0, last_nonzero = 0, last_non_nine = 0;
    bool odd = false;

    HD_DEVICE void add(uint32_t chunk, int n) {
        bool nonzero = false, non_nine = false;
        odd = n ? chunk & 1 : odd;
        for (int i = n; i > 0; --i, chunk /= 10) {
            const uint32_t digit = chunk % 10;
            if (digit != 0 && !nonzero) last_nonzero = count + i;
            if (digit != 9 && !non_nine) last_non_nine = count + i;
            nonzero |= digit != 0;
            non_nine |= digit != 9;
        }
        count += n;
    }

    HD_DEVICE Rounded down(int exponent) const { return {exponent, last_nonzero, false, false}; }
    HD_DEVICE Rounded up(int exponent) const {
        return last_non_nine ? Rounded{exponent, last_non_nine, true, false} : Rounded{exponent + 1, 1, true, true};
    }
};

// Rounds value > 0 to `count` digits, or (fixed) to `count` digits after the point.
HD_NOINLINE Rounded round_exactly(Parts value, bool fixed, int count) {
    Expansion digits(value.mantissa, value.exponent);
    int exponent = digits.lead;
    uint32_t chunk = digits.next();
    for (; chunk == 0; chunk = digits.next()) exponent -= 9;
    int n = digits_of(chunk);
    exponent -= 9 - n;
    DigitRun run;
    long room = fixed ? static_cast<long>(count) + exponent + 1 : count;
    if (room < 0) return run.down(exponent);  // less than a tenth of the last place
    for (; room >= n; n = 9) {
        run.add(chunk, n);
        if (digits.ended()) return run.down(exponent);
        room -= n;
        chunk = digits.next();
    }
    const int dropped = n - static_cast<int>(room);
    const uint32_t unit = static_cast<uint32_t>(small_tens[dropped]);
    run.add(chunk / unit, static_cast<int>(room));
    const uint32_t rest = chunk % unit, half = unit / 2;
    const bool up = rest > half || (rest == half && (run.odd || !digits.ended()));
    return up ? run.up(exponent) : run.down(exponent);
}

// Hands the digits of `rounded` to put(char): leading zeros are left out.
template <class Put> HD_DEVICE void put_digits(Parts value, const Rounded &rounded, Put &put) {
    if (rounded.carry) return put('1');
    Expansion digits(value.mantissa, value.exponent);
    uint32_t chunk = 0;
    if (rounded.kept)
        while (chunk == 0) chunk = digits.next();
    int n = digits_of(chunk);
    for (int left = rounded.kept; left > 0; chunk = digits.next(), n = 9)
        while (n > 0 && left > 0) {
            const uint32_t digit = chunk / static_cast<uint32_t>(small_tens[--n]) % 10;
            --left;
            put(static_cast<char>('0' + digit + (left == 0 && rounded.up)));
        }
}

// The first `count` (1..17) digits of a value > 0 as one number, rounded, by a product of 192 bits. `exponent`: of the
// first digit. False where that product cannot tell on which side of a tie the value is, or 10^s is not in the table.
HD_DEVICE bool round_quickly(Parts value, int count, uint64_t &digits, int &exponent) {
    const int zeros = leading_zeros(value.mantissa);
    const uint64_t mantissa = value.mantissa << zeros;
    const int binary = value.exponent - zeros;
    exponent = ((binary + 63) * 78913) >> 18;  // floor(log10(2^(binary + 63))): the value's, or one less
    for (int attempt = 0; attempt < 2; ++attempt, ++exponent) {
        const int s = count - 1 - exponent;
        if (s < min_ten || s > max_ten) return false;
        const Ten ten = tens[s - min_ten];
        const Wide low = static_cast<Wide>(mantissa) * ten.low;
        const Wide high = static_cast<Wide>(mantissa) * ten.high + (low >> 64);
        const int shift = -(binary + ten_exponent(s)) - 64;  // of `high`; digits < 10^18 < 2^60 leaves 67 <= shift
        const Wide half = static_cast<Wide>(1) << (shift - 1), rest = high & (half * 2 - 1);
        digits = static_cast<uint64_t>(high >> shift);
        bool up;
        if (s >= 0 && s <= max_exact_ten)
            up = rest > half || (rest == half && (static_cast<uint64_t>(low) || (digits & 1)));
        else if (rest + 2 <= half || rest > half)  // the true product is less than 2 more
            up = rest > half;
        else
            return false;
        digits += up;
        if (digits < small_tens[count]) return true;
    }
    return false;
}

}  // namespace hd
