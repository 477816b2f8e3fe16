// %d %u %o %x %c %s and plain pieces against glibc.
#include <climits>

#include "check.h"
#include "libc/format.cuh"

namespace {

constexpr size_t room = 600;

template <class Piece, class Value> void compare(Check &check, const std::string &format, const Piece &piece, Value value) {
    char expected[room], found[room];
    const size_t limit = check.one_in(4) ? check.below(room) : check.below(24);
    std::memset(expected, 'x', room);
    std::memset(found, 'x', room);
    const int length = std::snprintf(expected, limit, format.c_str(), value);
    const int written = hd::snprint(found, limit, piece);
    check.same(length == written && !std::memcmp(expected, found, room), "snprintf(%zu) %s: glibc %d '%.*s', here %d '%.*s'",
               limit, format.c_str(), length, 40, expected, written, 40, found);
    std::memset(found, 'x', room);
    std::snprintf(expected, room, format.c_str(), value);
    char *const end = piece.write(found);
    check.same(end == found + length && !std::memcmp(expected, found, static_cast<size_t>(length)), "write of %s",
               format.c_str());
}

struct Flags {
    hd::Spec spec;
    std::string text;
};

Flags flags(Check &check, char letter) {
    const uint32_t bits = static_cast<uint32_t>(check.below(32));
    const int width = check.one_in(2) ? static_cast<int>(check.below(80)) : 0;
    const int precision = check.one_in(2) ? static_cast<int>(check.below(check.one_in(4) ? 300 : 25)) : -1;
    std::string text = "%";
    for (int i = 0; i < 5; ++i)
        if (bits >> i & 1) text += "-+ #0"[i];
    if (width) text += std::to_string(width);
    if (precision >= 0) text += "." + std::to_string(precision);
    return {hd::spec(bits, width, precision, letter), text};
}

void compare_numbers(Check &check) {
    const uint64_t bits = check.one_in(50) ? 0 : check.one_in(50) ? 1ull << 63 : check.number();
    const long number = static_cast<long>(bits);
    compare(check, "%d", hd::dec(static_cast<int>(number)), static_cast<int>(number));
    compare(check, "%u", hd::dec(static_cast<unsigned>(bits)), static_cast<unsigned>(bits));
    compare(check, "%ld", hd::dec(number), number);
    compare(check, "%lu", hd::dec(static_cast<unsigned long>(bits)), bits);
    compare(check, "%lld", hd::dec(static_cast<long long>(number)), static_cast<long long>(number));
    compare(check, "%llu", hd::dec(static_cast<unsigned long long>(bits)), static_cast<unsigned long long>(bits));
    for (const char letter : {'d', 'i', 'u', 'o', 'x', 'X'}) {
        const Flags with = flags(check, letter);
        const std::string format = with.text + "l" + letter;
        if (letter == 'd' || letter == 'i')
            compare(check, format, hd::integer(with.spec, number), number);
        else
            compare(check, format, hd::natural(with.spec, bits), bits);
    }
}

void compare_text(Check &check) {
    std::string any;
    for (uint64_t n = check.below(60); n; --n) any += static_cast<char>(1 + check.below(255));
    const Flags s = flags(check, 's'), c = flags(check, 'c');
    compare(check, "%s", hd::str(any.c_str()), any.c_str());
    compare(check, s.text + "s", hd::str(s.spec, any.c_str()), any.c_str());
    const char *const null = check.below(2) ? nullptr : any.c_str();
    compare(check, s.text + "s", hd::str(s.spec, null), null);
    compare(check, "%s", hd::str(null), null);
    const int character = static_cast<int>(1 + check.below(300));
    if (character == 256) return;  // a NUL in the middle is compared below
    compare(check, "%c", hd::chr(character), character);
    compare(check, c.text + "c", hd::chr(c.spec, character), character);
}

}  // namespace

int main(int argc, char **argv) {
    Check check(argc, argv);
    for (long i = 0; i < check.cases / 32; ++i) {
        compare_numbers(check);
        compare_text(check);
    }
    // Powers of ten and their neighbours, where the number of digits changes.
    for (uint64_t ten = 1; ten <= 10000000000000000000u / 10; ten *= 10)
        for (const uint64_t x : {ten * 10 - 1, ten * 10, ten * 10 + 1}) compare(check, "%lu", hd::dec(x), x);
    char text[8];
    check.same(
        hd::sprint(text, hd::chr(0), hd::text("ab", 2), hd::bytes("c\0d", 3)) == 6 && !std::memcmp(text, "\0abc\0d", 7),
        "text with NUL bytes");
    // A negative width is the '-' flag, a negative precision none.
    const hd::Spec left = hd::spec(0, -4, -7, 'd');
    check.same(hd::sprint(text, hd::integer(left, 5)) == 4 && !std::strcmp(text, "5   "), "negative width: '%s'", text);
    return check.finish();
}
