// Doubles that are hard to print and to round.
#pragma once

#include <cmath>

#include "check.h"

inline double unsigned_real(Check &check) {
    const uint64_t bits = check.random();
    switch (check.below(9)) {
    case 0: return std::isnan(double_from(bits)) ? NAN : double_from(bits);  // no signalling ones
    case 1: return static_cast<double>(static_cast<int64_t>(bits)) / static_cast<double>(1u << check.below(31));
    case 2: return static_cast<double>(check.below(100000)) / 100;
    case 3: return static_cast<double>(check.below(2000)) / static_cast<double>(1u << check.below(12));  // ties
    case 4: return std::ldexp(1.0, static_cast<int>(check.below(2150)) - 1075);
    case 5: return double_from((bits & 0x000fffffffffffff) >> check.below(53));  // subnormal
    case 6: return static_cast<double>(check.below(1000)) * std::pow(10, static_cast<double>(check.below(40)) - 20);
    case 7: return std::nextafter(std::pow(10, static_cast<double>(check.below(600)) - 300), check.one_in(2) ? 0 : INFINITY);
    default: return check.one_in(3) ? 0 : check.one_in(2) ? INFINITY : NAN;
    }
}

inline double real_of(Check &check) { return check.one_in(2) ? -unsigned_real(check) : unsigned_real(check); }
