// math.h's exact functions against glibc's; conversions and shifts against the processor's; the powers of ten.
#include <climits>
#include <cmath>
#include <limits>

#include "libc/decimal.cuh"
#include "libc/math.cuh"
#include "libc/powers.cuh"
#include "reals.h"

namespace {

#define HD_SAME(name, ...)                                                                                       \
    check.same(same_bits(::name(__VA_ARGS__), hd::name(__VA_ARGS__), true), #name "(%a, %a): glibc %a, here %a", \
               static_cast<double>(x), static_cast<double>(y), static_cast<double>(::name(__VA_ARGS__)),         \
               static_cast<double>(hd::name(__VA_ARGS__)))
#define HD_SAME_INTEGER(name)                                                                       \
    check.same(::name(x) == hd::name(x), #name "(%a): glibc %ld, here %ld", static_cast<double>(x), \
               static_cast<long>(::name(x)), static_cast<long>(hd::name(x)))

void compare_doubles(Check &check, double x, double y, int n) {
    HD_SAME(sqrt, x);
    HD_SAME(fabs, x);
    HD_SAME(floor, x);
    HD_SAME(ceil, x);
    HD_SAME(trunc, x);
    HD_SAME(rint, x);
    HD_SAME(nearbyint, x);
    HD_SAME(round, x);
    HD_SAME(logb, x);
    HD_SAME(fmod, x, y);
    HD_SAME(fmin, x, y);
    HD_SAME(fmax, x, y);
    HD_SAME(fdim, x, y);
    HD_SAME(copysign, x, y);
    HD_SAME(nextafter, x, y);
    HD_SAME(scalbn, x, n);
    HD_SAME(ldexp, x, n);
    HD_SAME(scalbln, x, static_cast<long>(n));
    HD_SAME(fma, x, y, x);
    HD_SAME_INTEGER(ilogb);
    HD_SAME_INTEGER(lround);
    HD_SAME_INTEGER(llround);
    HD_SAME_INTEGER(lrint);
    HD_SAME_INTEGER(llrint);
    int exponent = 5, wanted_exponent = 5;
    double whole = 5, wanted_whole = 5;
    const double fraction = ::frexp(x, &wanted_exponent), rest = ::modf(x, &wanted_whole);
    check.same(same_bits(fraction, hd::frexp(x, &exponent), true) && exponent == wanted_exponent, "frexp(%a)", x);
    check.same(same_bits(rest, hd::modf(x, &whole), true) && same_bits(whole, wanted_whole, true), "modf(%a)", x);
}

void compare_floats(Check &check, float x, float y, int n) {
    HD_SAME(sqrtf, x);
    HD_SAME(fabsf, x);
    HD_SAME(floorf, x);
    HD_SAME(ceilf, x);
    HD_SAME(truncf, x);
    HD_SAME(rintf, x);
    HD_SAME(nearbyintf, x);
    HD_SAME(roundf, x);
    HD_SAME(logbf, x);
    HD_SAME(fmodf, x, y);
    HD_SAME(fminf, x, y);
    HD_SAME(fmaxf, x, y);
    HD_SAME(fdimf, x, y);
    HD_SAME(copysignf, x, y);
    HD_SAME(nextafterf, x, y);
    HD_SAME(scalbnf, x, n);
    HD_SAME(ldexpf, x, n);
    HD_SAME(scalblnf, x, static_cast<long>(n));
    HD_SAME(fmaf, x, y, x);
    HD_SAME_INTEGER(ilogbf);
    HD_SAME_INTEGER(lroundf);
    HD_SAME_INTEGER(llroundf);
    HD_SAME_INTEGER(lrintf);
    HD_SAME_INTEGER(llrintf);
    int exponent = 5, wanted_exponent = 5;
    float whole = 5, wanted_whole = 5;
    const float fraction = ::frexpf(x, &wanted_exponent), rest = ::modff(x, &wanted_whole);
    check.same(same_bits(fraction, hd::frexpf(x, &exponent), true) && exponent == wanted_exponent, "frexpf(%a)",
               static_cast<double>(x));
    check.same(same_bits(rest, hd::modff(x, &whole), true) && same_bits(whole, wanted_whole, true), "modff(%a)",
               static_cast<double>(x));
}

void compare_classes(Check &check, double x, float f) {
    check.same(hd::isnan(x) == std::isnan(x) && hd::isinf(x) == __builtin_isinf_sign(x) &&
                   hd::isfinite(x) == std::isfinite(x) && hd::signbit(x) == std::signbit(x) &&
                   hd::isunordered(1, x) == std::isunordered(1, x),
               "isnan ... (%a)", x);
    check.same(hd::isnormal(x) == std::isnormal(x) && hd::isnormal(f) == std::isnormal(f), "isnormal(%a, %a)", x,
               static_cast<double>(f));
    check.same(hd::fpclassify(x) == std::fpclassify(x) && hd::fpclassify(f) == std::fpclassify(f), "fpclassify(%a)", x);
}

// What gcc makes of (type)x, kept from being computed by the compiler.
template <class To> __attribute__((noinline, optimize("O2"))) To converted(double x) {
    volatile double value = x;
    return static_cast<To>(value);
}

void compare_conversions(Check &check, double x) {
    check.same(hd::to_i32(x) == converted<int>(x), "(int)%a is %d, here %d", x, converted<int>(x), hd::to_i32(x));
    check.same(hd::to_i64(x) == converted<long>(x), "(long)%a", x);
    check.same(hd::to_u32(x) == converted<unsigned>(x), "(unsigned)%a", x);
    check.same(hd::to_u64(x) == converted<unsigned long>(x), "(unsigned long)%a", x);
    check.same(hd::to_i8(x) == converted<signed char>(x) && hd::to_u8(x) == converted<unsigned char>(x), "(char)%a", x);
    check.same(hd::to_i16(x) == converted<short>(x) && hd::to_u16(x) == converted<unsigned short>(x), "(short)%a", x);
}

// x86's shift instructions.
template <class T> T shifted_left(T a, int n) {
    asm("shl %%cl, %0" : "+r"(a) : "c"(n));
    return a;
}
template <class T> T shifted_right(T a, int n) {
    if (static_cast<T>(-1) < 0)
        asm("sar %%cl, %0" : "+r"(a) : "c"(n));
    else
        asm("shr %%cl, %0" : "+r"(a) : "c"(n));
    return a;
}

struct FailingLane {
    int failures = 0;
    uint32_t line = 0;
    [[noreturn]] void fail(hd::Status status, uint32_t at) {
        if (status == hd::Status::division) throw at;
        std::abort();
    }
};

// Whether a division traps, by what it does to a lane.
template <class T> void compare_division(Check &check, T a, T b) {
    FailingLane lane;
    const bool traps = b == 0 || (static_cast<T>(-1) < 0 && b == static_cast<T>(-1) && a == std::numeric_limits<T>::min());
    bool trapped = false;
    try {
        const T quotient = hd::divide(lane, a, b, 7u), rest = hd::remainder(lane, a, b, 7u);
        check.same(!traps && quotient == a / b && rest == a % b, "division");
    } catch (uint32_t line) {
        trapped = line == 7;
    }
    check.same(traps == trapped, "division traps");
}

template <class T> void compare_integers(Check &check) {
    const T a = static_cast<T>(check.one_in(8) ? 1ull << (sizeof(T) * 8 - 1) : check.number());
    const T b = static_cast<T>(check.one_in(8) ? 0 : check.one_in(4) ? ~0ull : check.number());
    const int n = static_cast<int>(check.number());
    check.same(hd::shl(a, n) == shifted_left(a, n) && hd::shr(a, n) == shifted_right(a, n), "shift by %d", n);
    compare_division(check, a, b);
}

void compare_bits(Check &check) {
    const uint64_t x = check.number() | 1ull << check.below(64), wide = check.number();
    const unsigned narrow = static_cast<unsigned>(x) | 1u << check.below(32);
    check.same(hd::popcountl(wide) == __builtin_popcountl(wide) && hd::popcount(narrow) == __builtin_popcount(narrow),
               "popcount");
    check.same(hd::ctzl(x) == __builtin_ctzl(x) && hd::ctz(narrow) == __builtin_ctz(narrow), "ctz");
    check.same(hd::clzl(x) == __builtin_clzl(x) && hd::clz(narrow) == __builtin_clz(narrow), "clz");
    const int small = check.one_in(9) ? 0 : static_cast<int>(narrow);
    check.same(hd::ffs(small) == __builtin_ffs(small), "ffs(%d)", small);
    check.same(hd::bswap16(static_cast<uint16_t>(x)) == __builtin_bswap16(static_cast<uint16_t>(x)), "bswap16");
    check.same(hd::bswap32(narrow) == __builtin_bswap32(narrow) && hd::bswap64(x) == __builtin_bswap64(x), "bswap");
    check.same(hd::htonl(narrow) == __builtin_bswap32(narrow) && hd::ntohl(hd::htonl(narrow)) == narrow, "htonl");
    unsigned seed = narrow, theirs = narrow;
    const int first = hd::rand_r(&seed), first_of_theirs = ::rand_r(&theirs);
    check.same(first == first_of_theirs && seed == theirs && hd::rand_r(&seed) == ::rand_r(&theirs), "rand_r(%u)", narrow);
    const uint16_t half = static_cast<uint16_t>(x);
    check.same(hd::htons(half) == __builtin_bswap16(half) && hd::ntohs(hd::htons(half)) == half, "htons");
    const int number = check.one_in(9) ? INT_MIN : static_cast<int>(wide);
    const long big = check.one_in(9) ? LONG_MIN : static_cast<long>(wide);
    check.same(hd::abs(number) == (number == INT_MIN ? INT_MIN : std::abs(number)), "abs(%d)", number);
    check.same(hd::labs(big) == (big == LONG_MIN ? LONG_MIN : std::labs(big)) && hd::llabs(big) == hd::labs(big),
               "labs(%ld)", big);
}

// Every row by an exact decimal expansion: row * 2^exponent <= 10^q < (row + 1) * 2^exponent, through long double's range.
void check_tens(Check &check) {
    for (int q = hd::min_ten; q <= hd::max_ten; ++q) {
        const hd::Ten ten = hd::tens[q - hd::min_ten];
        check.same(ten.high >> 63, "10^%d is not normalised", q);
        const int exponent = hd::ten_exponent(q) + 64;
        char text[32];
        std::snprintf(text, sizeof text, "1e%d", q);
        // glibc reads 64 bits, rounded to nearest: the row's high half, or one more where the low half rounds up.
        const long double wanted = std::strtold(text, nullptr);
        const long double found =
            std::ldexp(static_cast<long double>(ten.high), exponent) + (ten.low >> 63 ? std::ldexp(1.0L, exponent) : 0);
        check.same(wanted == found, "10^%d: %La, the table %La", q, wanted, found);
    }
    // The low halves: each row is the one before times ten, up to what is cut off.
    for (int q = hd::min_ten; q < hd::max_ten; ++q) {
        const hd::Ten ten = hd::tens[q - hd::min_ten], next = hd::tens[q + 1 - hd::min_ten];
        const int shift = hd::ten_exponent(q + 1) - hd::ten_exponent(q);
        const hd::Wide low = static_cast<hd::Wide>(ten.low) * 10, high = static_cast<hd::Wide>(ten.high) * 10 + (low >> 64);
        const hd::Wide product = (high << (64 - shift)) | static_cast<uint64_t>(low) >> shift;
        const hd::Wide row = static_cast<hd::Wide>(next.high) << 64 | next.low;
        check.same(row - product <= (q >= 0 && q < hd::max_exact_ten ? 0 : 2), "10^%d is not ten times 10^%d", q + 1, q);
    }
    uint64_t small = 1;
    for (int n = 0; n < 20; ++n, small *= 10) check.same(hd::small_tens[n] == small, "10^%d", n);
}

}  // namespace

int main(int argc, char **argv) {
    Check check(argc, argv);
    check_tens(check);
    while (check.compared < check.cases) {
        const double x = real_of(check), y = check.one_in(9) ? x * 3 : real_of(check);
        const float f = static_cast<float>(x), any = float_from(static_cast<uint32_t>(check.random()));
        const float g = check.one_in(2) && !std::isnan(any) ? any : static_cast<float>(y);  // no signalling NaN
        const int n = static_cast<int>(check.below(4400)) - 2200;
        compare_doubles(check, x, y, check.one_in(2) ? n : n / 40);
        compare_floats(check, f, g, check.one_in(2) ? n : n / 40);
        compare_classes(check, x, f);
        for (const double near :
             {x, x * 0x1p40, std::nextafter(0x1p31, x), std::nextafter(-0x1p31 - 1, x), std::nextafter(0x1p32, x),
              std::nextafter(0x1p63, x), std::nextafter(-0x1p63, x), std::nextafter(0x1p64, x)})
            compare_conversions(check, near);
        compare_integers<int>(check);
        compare_integers<unsigned>(check);
        compare_integers<long>(check);
        compare_integers<unsigned long>(check);
        compare_bits(check);
    }
    return check.finish();
}
