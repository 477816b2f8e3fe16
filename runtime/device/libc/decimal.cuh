// Exact decimal expansions of doubles, in chunks of nine digits: the slow path of both printf and strtod. A finite double
// has at most 309 digits before its point and 1074 after it (1076 for the halves and quarters that strtod asks about).
#pragma once

#include "libc/bits.cuh"

namespace hd {

constexpr uint32_t billion = 1000000000;

// The decimal digits of mantissa * 2^exponent, most significant chunk first. Either there is no fraction, and `word` holds
// the integer in base 10^9; or the integer fits into `whole`, and `word` holds the fraction in base 2^32 (word[n - 1] is
// worth 2^-32). next() gives one chunk after the other, the first of which may be zero, and zeros after the last.
struct Expansion {
    static constexpr int capacity = 36;
    uint32_t word[capacity];
    int used;          // words that are not zero, at most; words below `low` are zero
    int low;
    int lead;          // decimal exponent of the first chunk's first digit
    uint64_t whole;
    bool has_fraction;
    int given;         // chunks of `whole` that next() has given

    HD_DEVICE Expansion(uint64_t mantissa, int exponent) : used(0), low(0), lead(17), whole(0), given(0) {
        has_fraction = exponent < 0;
        if (has_fraction)
            split(mantissa, -exponent);
        else
            multiply_out(mantissa, exponent);
    }

    HD_DEVICE uint32_t next() {
        if (!has_fraction) return used ? word[--used] : 0;
        if (given < 2) return static_cast<uint32_t>(given++ ? whole % billion : whole / billion);
        uint64_t carry = 0;
        for (int i = low; i < used; ++i) {
            carry += static_cast<uint64_t>(word[i]) * billion;
            word[i] = static_cast<uint32_t>(carry);
            carry >>= 32;
        }
        while (low < used && word[low] == 0) ++low;
        return static_cast<uint32_t>(carry);
    }

    // Whether all chunks still to come are zero.
    HD_DEVICE bool ended() const {
        if (has_fraction && given < 2 && (given ? whole % billion : whole)) return false;
        for (int i = low; i < used; ++i)
            if (word[i]) return false;
        return true;
    }

private:
    HD_DEVICE void multiply_out(uint64_t mantissa, int exponent) {
        for (; mantissa; mantissa /= billion) word[used++] = static_cast<uint32_t>(mantissa % billion);
        while (exponent > 0) {
            const int step = exponent < 29 ? exponent : 29;  // a digit times 2^29, plus carry, fits into 64 bits
            uint64_t carry = 0;
            for (int i = 0; i < used; ++i) {
                carry += static_cast<uint64_t>(word[i]) << step;
                word[i] = static_cast<uint32_t>(carry % billion);
                carry /= billion;
            }
            if (carry) word[used++] = static_cast<uint32_t>(carry);
            exponent -= step;
        }
        lead = 9 * used - 1;
    }

    // The fraction is mantissa * 2^-shift, aligned so that its words end at the point.
    HD_DEVICE void split(uint64_t mantissa, int shift) {
        if (shift < 64) {
            whole = mantissa >> shift;
            mantissa &= (1ull << shift) - 1;
        }
        used = (shift + 31) / 32;
        for (int i = 0; i < used; ++i) word[i] = 0;
        const Wide aligned = static_cast<Wide>(mantissa) << (used * 32 - shift);
        for (int i = 0; i < 3 && i < used; ++i) word[i] = static_cast<uint32_t>(aligned >> (32 * i));
        while (low < used && word[low] == 0) ++low;
    }
};

// Digits of a chunk, 0 for 0.
HD_DEVICE int digits_of(uint32_t chunk) {
    int n = 0;
    for (; chunk; chunk /= 10) ++n;
    return n;
}

}  // namespace hd
