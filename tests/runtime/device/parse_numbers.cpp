// strtod, strtof, strtol and their kin against glibc: value, end pointer and errno.
#include <cerrno>

#include "libc/numbers.cuh"
#include "reals.h"

namespace {

std::string printed(Check &check, uint64_t most, double x) {
    char text[1200];
    std::snprintf(text, sizeof text, "%.*e", static_cast<int>(check.below(most)), x);
    return text;
}

// The middle between two doubles, exactly or nearly.
std::string middle(Check &check) {
    double x = double_from(check.random());
    if (!(std::fabs(x) < 1e308)) x = 1;
    const double y = std::nextafter(x, 1e308);
    char text[1200];
    std::snprintf(text, sizeof text, "%.*Le", static_cast<int>(check.one_in(5) ? check.below(800) : 800),
                  (static_cast<long double>(x) + static_cast<long double>(y)) / 2);
    std::string out = text;
    if (check.one_in(3)) out.insert(out.find('e'), check.digits(5) + "1");
    return out;
}

std::string middle_of_floats(Check &check) {
    const float x = float_from(static_cast<uint32_t>(check.random()));
    const float y = std::nextafter(x, 1e38f);
    return printed(check, check.one_in(3) ? 15 : 150, (static_cast<double>(x) + static_cast<double>(y)) / 2);
}

// The middle between two subnormal numbers has up to 768 digits.
std::string middle_of_subnormals(Check &check) {
    char big[1200];
    const double x = double_from((check.random() & 0x000fffffffffffff) >> check.below(53));
    // Or what is as near to the least normal number as 54 bits allow: rounded to 53, it is not subnormal any more.
    const long double middle = check.one_in(8) ? 0x1.fffffffffffff8p-1023L : static_cast<long double>(x) + 0x1p-1075L;
    std::snprintf(big, sizeof big, "%.*Le", 780, middle);
    std::string out = big;
    const uint64_t change = check.below(4);
    if (change == 1) out[2 + check.below(770)] = static_cast<char>('0' + check.below(10));
    if (change == 2) out.insert(out.find('e'), check.digits(30) + "1");
    if (change == 3) out.erase(2 + check.below(770), 1);
    return out;
}

std::string hexadecimal(Check &check) {
    std::string out = (check.one_in(2) ? "0x" : "0X") + check.letters("0123456789abcdefABCDEF..", 25);
    if (check.one_in(2)) out += "p" + std::to_string(static_cast<int>(check.below(2400)) - 1200);
    return out;
}

// Bits on both sides of where a float's or a double's subnormal mantissa ends.
std::string hexadecimal_subnormal(Check &check) {
    char text[64];
    const bool is_float = check.one_in(2);
    const uint64_t mantissa = (check.random() | 1ull << 63) >> check.below(is_float ? 48 : 20);
    const int exponent = (is_float ? -126 : -1022) - static_cast<int>(check.below(is_float ? 26 : 56));
    std::snprintf(text, sizeof text, "0x%" PRIx64 "p%d", mantissa, exponent + __builtin_clzll(mantissa) - 63);
    return text;
}

std::string with_zeros(Check &check) {
    const auto zeros = [&] { return std::string(check.below(400), '0'); };
    return zeros() + check.digits(20) + zeros() + "." + zeros() + check.digits(20);
}

const char *const corners[] = {
    "", " ", "+", "-", ".", "-.", "+.5", "-0", "-0e5", "1e", "1e+", "1e-5x", "0x", "0x.", "0x.8", "0x.p3", "0xg",
    "1.2.3", "1 2", "inf", "INFINITY", "infinit", "-Inf", "nan", "-nan", "NaN(123)", "nan(0x7f)", "nan(0777)", "nan(",
    "nan()", "nan(abc)", "nan(09)", "nan(0x)", "nan(_)", "nan(1_)", "0xaA9.CC88p-141", "nan(99999999999999999999999)",
    "nan(99999999999999999999999z)", "nano", "0e99999999999", "1e99999999999999999999999",
    "1e-99999999999999999999999", "00000000000000000000000000000000001", "2.2250738585072011e-308",
    "2.2250738585072012e-308", "2.2250738585072013e-308", "2.2250738585072014e-308",
    "2.22507385850720113605740979670913197593481954635164564e-308",
    "0x1.fffffffffffffp-1023", "0x0.fffffffffffffcp-1022",
    "2.22507385850720113605740979670913197593481954635164564802342610972482222202107694551652952390813508791414915891"
    "3039621106870086438694594645527657207407820621743379988141063267329253552286881372149012981122451451889849057222"
    "3072852551331557550159143974763979834118019993239625482890171070818506906306666559949382757725720157630626906633"
    "3264756530000924588831643303777979186961204949739037782970490505108060994073026293712895895000358379996720725430"
    "4360284078895771796150945516748243471030702609144621572289880258182545180325707018860872113128079512233426288368"
    "6223215037756666225039825343359745688844239002654981983854879482922068947216898310996983658468140228542433306603"
    "3985088644580400103493397042756718644338377048603786162277173854562306587467901408672332763671875e-308",
    "0x0.fffffffffffffbp-1022", "0x0.fffffffffffff8p-1022", "0x1p-1075", "0x1.8p-1075", "0x1p-1074", "0x1p-1076",
    "0x1.0000000000000800000000000000000000000001p0", "0x1.00000000000008p0", "0x1.00000000000018p0",
    "0x1p99999999999999999999", "4.9406564584124654e-324", "2.4703282292062327e-324", "2.4703282292062328e-324",
    "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308", "0x1.fffffffffffff7p1023",
    "0x1.fffffffffffff8p1023", "3.4028235e38", "3.4028236e38", "3.40282356779733661637539395458142568447e38",
    "1.17549428e-38", "1.1754942e-38", "1.17549435e-38", "7.006492e-46", "7.006493e-46", "0x1.fffffep127",
    "0x1.ffffffp127", "0x1p-150", "0x1.000002p-150", "0x0.ffffffp-126", "9007199254740993",
    "9007199254740992.99999999999999999999", "9007199254740993.00000000000000000001", "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
    "18446744073709551616", "-18446744073709551615", "-18446744073709551616", "0xffffffffffffffff",
    "0x10000000000000000", "01777777777777777777777", "02000000000000000000000", "zz", "ZZ", "-0x", "+0x1G", "08",
    "0b11", "-", "999999999999999999", "1000000000000000000", "-999999999999999999999",
};

std::string text_of(Check &check) {
    switch (check.below(14)) {
    case 0: {
        char text[64];
        std::snprintf(text, sizeof text, "%.17g", double_from(check.random()));
        return text;
    }
    case 1: return printed(check, 30, double_from(check.random()));
    case 2: return printed(check, 800, double_from((check.random() & 0x001fffffffffffff) >> check.below(53)));
    case 3: return middle(check);
    case 4:
        return check.digits(25) + "." + check.digits(25) + "e" + std::to_string(static_cast<int>(check.below(700)) - 350);
    case 5: return with_zeros(check);
    case 6: return check.letters("0123456789+-.eExXpPnaifty() \t", 12);
    case 7: return check.one_in(2) ? hexadecimal(check) : hexadecimal_subnormal(check);
    case 8: return middle_of_floats(check);
    case 9: return middle_of_subnormals(check);
    case 10: {
        std::string out = std::to_string(check.random() >> check.below(64));
        return check.one_in(2) ? out.insert(check.below(out.size() + 1), ".") : out;
    }
    case 11: return printed(check, 40, real_of(check));
    case 12: return std::to_string(static_cast<long>(check.number()));
    default: return corners[check.below(sizeof corners / sizeof *corners)];
    }
}

constexpr int untouched = -77;

// Runs one conversion of either library: glibc's errno or ours, from the same start.
template <class T> struct Outcome {
    T value;
    const char *end;
    int err;
};

template <class Call> auto of_glibc(const char *text, Call call) {
    char *end = const_cast<char *>(text) - 1;
    errno = untouched;
    const auto value = call(text, &end);
    return Outcome<std::remove_const_t<decltype(value)>>{value, end, errno};
}

template <class Call> auto of_ours(const char *text, Call call) {
    char *end = const_cast<char *>(text) - 1;
    int err = untouched;
    const auto value = call(err, text, &end);
    return Outcome<std::remove_const_t<decltype(value)>>{value, end, err};
}

template <class T>
void compare(Check &check, const char *name, const std::string &text, const Outcome<T> &wanted, const Outcome<T> &found) {
    check.same(!std::memcmp(&wanted.value, &found.value, sizeof(T)) && wanted.end == found.end && wanted.err == found.err,
               "%s(\"%s\"): glibc %.20g, end %td, errno %d; here %.20g, end %td, errno %d", name, text.c_str(),
               static_cast<double>(wanted.value), wanted.end - text.c_str(), wanted.err, static_cast<double>(found.value),
               found.end - text.c_str(), found.err);
}

void compare_reals(Check &check, const std::string &text) {
    const char *const s = text.c_str();
    compare(check, "strtod", text, of_glibc(s, strtod), of_ours(s, [](auto &&...a) { return hd::strtod(a...); }));
    compare(check, "strtof", text, of_glibc(s, strtof), of_ours(s, [](auto &&...a) { return hd::strtof(a...); }));
    check.same(same_bits(std::atof(s), hd::atof(s)), "atof(\"%s\")", s);
}

// Invalid ones too, but not under AddressSanitizer, whose strtol reads the end pointer that glibc does not set then.
int any_base(Check &check) {
#ifdef __SANITIZE_ADDRESS__
    return static_cast<int>(check.below(35)) + 2;
#else
    return static_cast<int>(check.below(40)) - 1;
#endif
}

void compare_integers(Check &check, const std::string &text) {
    const char *const s = text.c_str();
    const int base = check.one_in(2) ? 10 : check.one_in(2) ? 0 : any_base(check);
#define HD_COMPARE(name)                                                                  \
    compare(check, #name, text, of_glibc(s, [=](auto... a) { return name(a..., base); }), \
            of_ours(s, [=](int &err, const char *from, char **end) { return hd::name(err, from, end, base); }))
    HD_COMPARE(strtol);
    HD_COMPARE(strtoul);
    HD_COMPARE(strtoll);
    HD_COMPARE(strtoull);
#undef HD_COMPARE
    errno = untouched;
    const int number = std::atoi(s), wanted = errno;
    int err = untouched;
    check.same(number == hd::atoi(err, s) && err == wanted && hd::atoi(s) == number, "atoi(\"%s\") is %d", s, number);
    check.same(std::atol(s) == hd::atol(s) && std::atoll(s) == hd::atoll(s), "atol(\"%s\")", s);
}

}  // namespace

int main(int argc, char **argv) {
    Check check(argc, argv);
    for (const char *corner : corners)
        for (int i = 0; i < 30; ++i) {
            compare_reals(check, corner);
            compare_integers(check, corner);
        }
    for (long i = 0; i < check.cases / 5; ++i) {
        std::string text = text_of(check);
        if (check.one_in(3)) text = "-" + text;
        if (check.one_in(8)) text = " \t\n\v\f\r+" + text;
        if (check.one_in(5)) text += "xyz";
        compare_reals(check, text);
        compare_integers(check, text);
    }
    return check.finish();
}
