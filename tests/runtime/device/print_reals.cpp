// %f %e %g %a against glibc: every flag, widths, precisions up to 1200, and snprintf cut at any place.
#include "libc/format.cuh"
#include "reals.h"

namespace {

constexpr size_t room = 4000;

struct Conversion {
    hd::Spec spec;
    std::string text;
};

Conversion conversion(Check &check) {
    const uint32_t flags = check.one_in(3) ? static_cast<uint32_t>(check.below(32)) : 0;
    const int width = check.one_in(3) ? static_cast<int>(check.below(60)) : 0;
    int precision = static_cast<int>(check.below(check.one_in(20) ? 1200 : 26));
    if (check.one_in(4)) precision = -1;
    const char letter = check.one_in(4) ? "FEGaA"[check.below(5)] : "feg"[check.below(3)];
    std::string text = "%";
    for (int i = 0; i < 5; ++i)
        if (flags >> i & 1) text += "-+ #0"[i];
    if (width) text += std::to_string(width);
    if (precision >= 0) text += "." + std::to_string(precision);
    return {hd::spec(flags, width, precision, letter), text + letter};
}

void compare(Check &check, const Conversion &wanted, double x) {
    char expected[room], found[room];
    const char *const format = wanted.text.c_str();
    const int length = std::snprintf(expected, room, format, x);
    const hd::Real piece = hd::real(wanted.spec, x);
    std::memset(found, 'x', room);
    const int written = hd::sprint(found, piece);
    check.same(length == written && piece.size() == static_cast<size_t>(length) && !std::strcmp(expected, found),
               "%s of %a: glibc '%s', here '%s' (%d)", format, x, expected, found, written);
    const size_t limit = check.below(static_cast<size_t>(length) + 3);
    std::memset(expected, 'x', room);
    std::memset(found, 'x', room);
    std::snprintf(expected, limit, format, x);
    hd::snprint(found, limit, piece);
    check.same(!std::memcmp(expected, found, room), "snprintf of %zu: %s of %a", limit, format, x);
}

// What rounds to the next power of ten, in all precisions around its own length.
void compare_carries(Check &check) {
    for (int power = -6; power <= 24; ++power)
        for (int precision = 0; precision <= 26; ++precision)
            for (const char letter : {'f', 'e', 'g'})
                for (const uint32_t flags : {0u, hd::flag_hash}) {
                    const std::string text =
                        std::string("%") + (flags ? "#" : "") + "." + std::to_string(precision) + letter;
                    const Conversion wanted{hd::spec(flags, 0, precision, letter), text};
                    const double ten = std::pow(10, power);
                    for (const double x : {ten, std::nextafter(ten, 0), ten * 0.9999999, ten * 0.95, ten * 0.5})
                        compare(check, wanted, x);
                }
}

}  // namespace

int main(int argc, char **argv) {
    Check check(argc, argv);
    compare_carries(check);
    for (long i = 0; i < check.cases; ++i) compare(check, conversion(check), real_of(check));
    // Two pieces around one that is cut.
    char text[16];
    const hd::Real pi = hd::real(hd::spec(0, 0, 4, 'f'), 3.14159);
    check.same(hd::snprint(text, 6, hd::chr('<'), pi, hd::chr('>')) == 8 && !std::strcmp(text, "<3.14"), "cut: %s", text);
    return check.finish();
}
