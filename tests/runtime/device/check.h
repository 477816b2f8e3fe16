// What the drivers of the device library's tests share: seeded random numbers, and a list of what differed from glibc.
// A driver is run as `driver CASES SEED`; it prints how many cases it compared and fails if one differed.
#pragma once

#include <cinttypes>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

struct Check {
    std::mt19937_64 random;
    long cases = 0;  // asked for
    long compared = 0;
    long wrong = 0;

    Check(int argc, char **argv) {
        if (argc != 3) {
            std::fprintf(stderr, "usage: %s CASES SEED\n", argv[0]);
            std::exit(2);
        }
        cases = std::atol(argv[1]);
        random.seed(std::strtoull(argv[2], nullptr, 10));
    }

    uint64_t below(uint64_t n) { return random() % n; }
    bool one_in(uint64_t n) { return below(n) == 0; }

    // A number with any count of bits, so that small ones and the ends of the range come up as well.
    uint64_t number() {
        const uint64_t bits = random() >> below(64);
        return one_in(3) ? bits : one_in(2) ? 0 - bits : bits ^ 1ull << below(64);
    }

    std::string letters(const std::string &alphabet, uint64_t longest) {
        std::string out;
        for (uint64_t n = below(longest + 1); n; --n) out += alphabet[below(alphabet.size())];
        return out;
    }

    std::string digits(uint64_t longest) { return letters("0123456789", longest); }

    __attribute__((format(printf, 3, 4))) void same(bool equal, const char *format, ...) {
        ++compared;
        if (equal || ++wrong > 20) return;
        va_list list;
        va_start(list, format);
        std::vfprintf(stderr, format, list);
        va_end(list);
        std::fputc('\n', stderr);
    }

    int finish() const {
        std::printf("compared %ld wrong %ld\n", compared, wrong);
        return wrong || compared < cases;
    }
};

inline double double_from(uint64_t bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

inline float float_from(uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// The same bits; any two NaNs are taken for equal where `nan` says so.
inline bool same_bits(double a, double b, bool nan = false) {
    return std::memcmp(&a, &b, sizeof a) == 0 || (nan && a != a && b != b);
}

inline bool same_bits(float a, float b, bool nan = false) {
    return std::memcmp(&a, &b, sizeof a) == 0 || (nan && a != a && b != b);
}
