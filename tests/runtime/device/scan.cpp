// sscanf and fscanf against glibc: result, every byte of every target, errno, and how much of the input is gone.
#include <cerrno>

#include "check.h"
#include "libc/scan.cuh"

namespace {

constexpr int targets = 6;
constexpr size_t room = 320;

struct Results {
    alignas(16) char memory[targets][room];
    int result, err;
    long used;  // bytes of the input

    Results() { std::memset(memory, '#', sizeof memory); }

    bool operator==(const Results &other) const {
        return result == other.result && err == other.err && used == other.used &&
               !std::memcmp(memory, other.memory, sizeof memory);
    }
};

// fmemopen does not open nothing.
Results of_glibc(const std::string &text, const std::string &format) {
    Results r;
    FILE *const file =
        text.empty() ? std::fopen("/dev/null", "r") : fmemopen(const_cast<char *>(text.data()), text.size(), "r");
    errno = 0;
    auto &m = r.memory;
    r.result = std::fscanf(file, format.c_str(), m[0], m[1], m[2], m[3], m[4], m[5]);
    r.err = errno;
    r.used = std::ftell(file);
    std::fclose(file);
    return r;
}

// The same from a string: glibc must say the same, but for where it stopped.
int result_of_string(const std::string &text, const std::string &format) {
    Results r;
    auto &m = r.memory;
    return std::sscanf(text.c_str(), format.c_str(), m[0], m[1], m[2], m[3], m[4], m[5]);
}

Results of_ours(const std::string &text, const std::string &format) {
    Results r;
    void *list[targets];
    for (int i = 0; i < targets; ++i) list[i] = r.memory[i];
    hd::StringSource source{text.c_str()};
    r.err = 0;
    r.result = hd::scan(source, r.err, format.c_str(), list);
    r.used = source.at - text.c_str();
    return r;
}

void compare(Check &check, const std::string &text, const std::string &format) {
    const Results wanted = of_glibc(text, format), found = of_ours(text, format);
    check.same(wanted == found, "scan(\"%s\", \"%s\"): glibc %d, errno %d, used %ld; here %d, errno %d, used %ld",
               text.c_str(), format.c_str(), wanted.result, wanted.err, wanted.used, found.result, found.err, found.used);
    check.same(result_of_string(text, format) == found.result, "sscanf(\"%s\", \"%s\")", text.c_str(), format.c_str());
}

std::string directive(Check &check) {
    static const char *const all[] = {
        "d", "d", "d", "i", "u", "x", "X", "o", "ld", "lld", "hd", "hhd", "zu", "jd", "td", "qd", "lu", "llx", "hu",
        "hhu", "li", "hi", "f", "f", "lf", "lf", "g", "e", "a", "G", "E", "lg", "F", "s", "s", "c", "[abc]", "[^,]",
        "[0-9]", "[]a]", "[^]a]", "[a-]", "[-a]", "[^-,]", "[a-c1-3]", "[z-a]", "[b-b]", "[0-9.-]", "[\xe0-\xff]",
        "n", "hhn", "ln", "%",
    };
    std::string out = "%";
    if (check.one_in(8)) out += "*";
    if (check.one_in(4)) out += std::to_string(check.below(check.one_in(2) ? 4 : 12));
    const std::string letter = all[check.below(sizeof all / sizeof *all)];
    return letter == "n" && out.find('*') != std::string::npos ? "%d" : out + letter;  // %*n is not C's
}

// At most `targets` conversions.
std::string format_of(Check &check) {
    std::string out;
    for (uint64_t n = 1 + check.below(4); n; --n) {
        if (check.one_in(4)) out += check.letters(" \t\n", 2);
        if (check.one_in(6)) out += check.letters(",:a0-x", 2);
        out += directive(check);
    }
    if (check.one_in(4)) out += check.letters(" ,%", 2);
    if (check.one_in(30)) out += "%[ab";
    return out;
}

std::string piece(Check &check) {
    static const char *const words[] = {
        "0x", "0x1f", "inf", "infinity", "INFINIT", "nan", "nax", "1e5", "1e", "1e+", "1.5", "-", "+", "-0", "007",
        "0", "abc", "99999999999999999999", "-99999999999999999999", "1e999", "1e-999", "0x1p3", "0x.8", "0x.", "3.",
        ".5", ".", "2147483648", "4294967297", "-129", "%",
    };
    switch (check.below(5)) {
    case 0: return std::to_string(static_cast<long>(check.number()));
    case 1: return check.letters("0123456789abcx.+-eE,:", 8);
    case 2: return check.letters("abc\xe0\xff, ", 6);
    default: return words[check.below(sizeof words / sizeof *words)];
    }
}

std::string text_of(Check &check) {
    std::string out;
    for (uint64_t n = check.below(5); n; --n) out += check.letters(" \t\n,:", check.one_in(2) ? 1 : 3) + piece(check);
    return check.one_in(4) ? out + "\n" : out;
}

const char *const corners[][2] = {
    {"", "%d"}, {" ", "%d"}, {"", " "}, {"x", ""}, {"5", "%d%d"}, {"5 ", "%d%d"}, {"5 x", "%d%d"}, {"", "%c"},
    {"", "%n"}, {"", "x"}, {"ab", "%*c%c"}, {"a", "%3c"}, {"0x", "%x%c"}, {"0xg", "%x%c"}, {"0xg", "%i%c"},
    {"-0xg", "%i%c"}, {"1e", "%f%c"}, {"1ex", "%f%c"}, {"1e+x", "%f%c"}, {"0xp1", "%f%c"}, {"-x", "%d%c"},
    {"-x", "%f%c"}, {"infi", "%f"}, {"infix", "%f%c"}, {"inx", "%f%c"}, {"12345", "%3d%d"}, {"-5", "%1d"},
    {"-5", "%2d"}, {"0x15", "%2x%d"}, {"0x15", "%3x%d"}, {"1.5e3", "%3f%f"}, {"-5", "%1f"}, {"abc]", "%[]abc]"},
    {"abc", "%[^]"}, {"abc", "%["}, {"a-c", "%[a-c]"}, {"a-a", "%[a-a]"}, {"  a", "%c"}, {"  a", " %c"},
    {"5%6", "%d%%%d"}, {"5 %6", "%d%%%d"}, {"a b", "%s%n %n%s"}, {"5", "%d "}, {"5 \n", "%d "},
    {"18446744073709551616", "%lu"}, {"-1", "%u"}, {"\xff", "%c"}, {"\xff", "%s"}, {"5", "%"}, {"5", "%k"},
    {"1,2", "%d,%d"}, {"1 ,2", "%d,%d"}, {"nan(12)", "%lf%s"},
};

// A field longer than what is kept of it, and what is never treated.
void refuse(Check &check) {
    const std::string digits(130, '1');
    for (const char *format :
         {"%p", "%ms", "%ls", "%lc", "%S", "%C", "%Lf", "%l[a]", "%1$d", "%'d", "%Id", "%m[a]", "\xc3\xa9"})
        check.same(of_ours("5 5", format).result == hd::scan_unsupported, "%s is treated", format);
    check.same(of_ours(digits, "%lf").result == hd::scan_unsupported, "a long field is treated");
    compare(check, digits.substr(0, 127), "%lf");
    compare(check, digits, "%d");
    compare(check, digits, "%s");
}

}  // namespace

int main(int argc, char **argv) {
    Check check(argc, argv);
    for (const auto &corner : corners) compare(check, corner[0], corner[1]);
    refuse(check);
    while (check.compared < check.cases) compare(check, text_of(check), format_of(check));
    return check.finish();
}
