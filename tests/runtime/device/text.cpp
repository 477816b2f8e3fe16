// ctype.h and string.h against glibc: every character, and short strings of few letters, so that all cases come up.
#include <cctype>
#include <strings.h>

#include "check.h"
#include "libc/strings.cuh"

namespace {

// A class's bit in glibc's table is what its macro answers with.
template <class Ours> void compare_class(Check &check, const char *name, int bit, Ours ours) {
    for (int c = -128; c < 256; ++c) {
        const int wanted = (*__ctype_b_loc())[c] & static_cast<unsigned short>(bit);
        check.same(ours(c) == wanted, "%s(%d) is %d, here %d", name, c, wanted, ours(c));
    }
}

void compare_ctype(Check &check) {
#define HD_CLASS(name, bit) compare_class(check, #name, bit, [](int c) { return hd::name(c); })
    HD_CLASS(isalpha, _ISalpha);
    HD_CLASS(isdigit, _ISdigit);
    HD_CLASS(isspace, _ISspace);
    HD_CLASS(isalnum, _ISalnum);
    HD_CLASS(isupper, _ISupper);
    HD_CLASS(islower, _ISlower);
    HD_CLASS(ispunct, _ISpunct);
    HD_CLASS(isprint, _ISprint);
    HD_CLASS(isgraph, _ISgraph);
    HD_CLASS(iscntrl, _IScntrl);
    HD_CLASS(isxdigit, _ISxdigit);
    HD_CLASS(isblank, _ISblank);
#undef HD_CLASS
    for (int c = -128; c < 300; ++c) {
        check.same(hd::tolower(c) == ::tolower(c) && hd::toupper(c) == ::toupper(c), "tolower, toupper(%d)", c);
        check.same(hd::isascii(c) == ((c & ~0x7f) == 0) && hd::toascii(c) == (c & 0x7f), "isascii, toascii(%d)", c);
        if (c > 255) continue;
        check.same(hd::_tolower(c) == (*__ctype_tolower_loc())[c] && hd::_toupper(c) == (*__ctype_toupper_loc())[c],
                   "_tolower, _toupper(%d)", c);
    }
}

int sign(int x) { return (x > 0) - (x < 0); }

// The difference that a comparison returned; AddressSanitizer puts functions of its own in glibc's place, with -1, 0, 1.
int difference(int x) {
#ifdef __SANITIZE_ADDRESS__
    return sign(x);
#else
    return x;
#endif
}

// Offset of a result in the object it points into; -1 for null.
template <class T> long offset(const T *found, const void *start) {
    return found ? static_cast<const char *>(static_cast<const void *>(found)) - static_cast<const char *>(start) : -1;
}

constexpr size_t room = 128;

// Two buffers with the same content, for glibc and for us.
struct Buffers {
    char theirs[room], ours[room];

    explicit Buffers(const std::string &content) {
        std::memset(theirs, '#', room);
        std::memcpy(theirs, content.c_str(), content.size() + 1);
        std::memcpy(ours, theirs, room);
    }
    bool equal() const { return !std::memcmp(theirs, ours, room); }
};

// `call(namespace's function, buffer)` must leave the same bytes and return the same place.
#define HD_CHANGES(name, content, ...)                                                                       \
    do {                                                                                                     \
        Buffers both(content);                                                                               \
        const auto change = [&](auto f, char *buffer) {                                                      \
            return offset(static_cast<char *>(f(buffer, __VA_ARGS__)), buffer);                              \
        };                                                                                                   \
        const long wanted = change([](auto... a) { return ::name(a...); }, both.theirs);                     \
        const long found = change([](auto... a) { return hd::name(a...); }, both.ours);                      \
        check.same(wanted == found && both.equal(), #name "(\"%s\", \"%s\", %zu)", (content).c_str(), b, n); \
    } while (0)
#define HD_FINDS(name, ...) \
    check.same(offset(::name(__VA_ARGS__), a) == offset(hd::name(__VA_ARGS__), a), #name " '%s' '%s' %d %zu", a, b, c, n)
#define HD_ORDERS(name, ...) \
    check.same(difference(::name(__VA_ARGS__)) == difference(hd::name(__VA_ARGS__)), #name " '%s' '%s' %zu", a, b, n)
#define HD_EQUAL(name, ...) check.same(::name(__VA_ARGS__) == hd::name(__VA_ARGS__), #name " '%s' '%s' %zu", a, b, n)

void compare_finds(Check &check, const char *a, size_t length, const char *b, size_t other, int c, size_t n) {
    const size_t within = n < length + 1 ? n : length + 1;
    HD_FINDS(strchr, a, c);
    HD_FINDS(strrchr, a, c);
    HD_FINDS(strchrnul, a, c);
    HD_FINDS(index, a, c);
    HD_FINDS(rindex, a, c);
    HD_FINDS(strstr, a, b);
    HD_FINDS(strcasestr, a, b);
    HD_FINDS(strpbrk, a, b);
    HD_FINDS(memchr, a, c, within);
    HD_FINDS(memrchr, a, c, within);
    HD_FINDS(rawmemchr, a, *a);
    HD_FINDS(memmem, a, length, b, other);
    HD_FINDS(memmem, a, within, b, other ? other - 1 : 0);
}

void compare_values(Check &check, const char *a, const char *b, size_t length, size_t n) {
    HD_EQUAL(strlen, a);
    HD_EQUAL(strnlen, a, n);
    HD_ORDERS(strcmp, a, b);
    HD_ORDERS(strcoll, a, b);
    HD_ORDERS(strncmp, a, b, n);
    HD_ORDERS(strcasecmp, a, b);
    HD_ORDERS(strncasecmp, a, b, n);
    HD_EQUAL(strspn, a, b);
    HD_EQUAL(strcspn, a, b);
    check.same(sign(::memcmp(a, b, length)) == sign(hd::memcmp(a, b, length)), "memcmp '%s' '%s' %zu", a, b, length);
    check.same(!::memcmp(a, b, length) == !hd::bcmp(a, b, length), "bcmp '%s' '%s' %zu", a, b, length);
}

void compare_changes(Check &check, const std::string &left, const char *b, size_t length, size_t n) {
    const int value = static_cast<int>(check.below(300));
    HD_CHANGES(strcpy, left, b);
    HD_CHANGES(stpcpy, left, b);
    HD_CHANGES(strncpy, left, b, n);
    HD_CHANGES(stpncpy, left, b, n);
    HD_CHANGES(strcat, left, b);
    HD_CHANGES(strncat, left, b, n);
    HD_CHANGES(memcpy, left, b, length);
    HD_CHANGES(mempcpy, left, b, length);
    HD_CHANGES(memset, left, value, n);
    Buffers moved(left), cleared(left), copied(left);
    const size_t from = check.below(30), to = check.below(30);
    ::memmove(moved.theirs + to, moved.theirs + from, n);
    check.same(hd::memmove(moved.ours + to, moved.ours + from, n) == moved.ours + to && moved.equal(), "memmove %zu", n);
    ::bcopy(copied.theirs + from, copied.theirs + to, n);
    hd::bcopy(copied.ours + from, copied.ours + to, n);
    ::bzero(cleared.theirs, n);
    hd::bzero(cleared.ours, n);
    check.same(cleared.equal() && copied.equal(), "bzero, bcopy %zu", n);
}

// Copies and comparisons that may go by words, from and to all places of a word.
void compare_places(Check &check, const std::string &left, const std::string &right) {
    alignas(8) char from[room], other[room];
    char *const source = from + check.below(8), *const second = other + check.below(8);
    std::memset(from, '#', room);
    std::memset(other, '?', room);
    std::memcpy(source, left.c_str(), left.size() + 1);
    std::memcpy(second, right.c_str(), right.size() + 1);
    check.same(difference(std::strcmp(source, second)) == difference(hd::strcmp(source, second)), "strcmp '%s' '%s'", source,
               second);
    alignas(8) Buffers both("");
    const size_t to = check.below(8);
    const long wanted = offset(::stpcpy(both.theirs + to, source), both.theirs);
    const long found = offset(hd::stpcpy(both.ours + to, source), both.ours);
    check.same(wanted == found && both.equal(), "stpcpy '%s' to %zu", source, to);
    const std::string same = left + (check.one_in(2) ? right : "");
    std::memcpy(second, same.c_str(), same.size() + 1);
    check.same(difference(std::strcmp(source, second)) == difference(hd::strcmp(source, second)), "strcmp '%s' '%s'", source,
               second);
}

// All tokens of `content`, the delimiters changing on the way.
void compare_tokens(Check &check, const std::string &content, const std::string &delimiters) {
    Buffers plain(content), state(content), parts(content);
    char *token = nullptr, *their_state = nullptr, *our_state = nullptr, *their_rest = parts.theirs, *our_rest = parts.ours;
    for (int i = 0; i < 12; ++i) {
        const char *const d = delimiters.c_str() + check.below(delimiters.size() + 1);
        const long wanted = offset(::strtok(i ? nullptr : plain.theirs, d), plain.theirs);
        const long found = offset(hd::strtok(token, i ? nullptr : plain.ours, d), plain.ours);
        check.same(wanted == found && plain.equal(), "strtok '%s' '%s'", content.c_str(), d);
        const long wanted_r = offset(::strtok_r(i ? nullptr : state.theirs, d, &their_state), state.theirs);
        const long found_r = offset(hd::strtok_r(i ? nullptr : state.ours, d, &our_state), state.ours);
        check.same(
            wanted_r == found_r && state.equal() && offset(their_state, state.theirs) == offset(our_state, state.ours),
            "strtok_r '%s' '%s'", content.c_str(), d);
        const long wanted_p = offset(::strsep(&their_rest, d), parts.theirs);
        const long found_p = offset(hd::strsep(&our_rest, d), parts.ours);
        check.same(wanted_p == found_p && parts.equal() && offset(their_rest, parts.theirs) == offset(our_rest, parts.ours),
                   "strsep '%s' '%s'", content.c_str(), d);
    }
}

}  // namespace

int main(int argc, char **argv) {
    Check check(argc, argv);
    compare_ctype(check);
    const std::string alphabets[] = {"ab", "aAbB", "abcABC ,.", "\x7f\x80\xff\x01 aZ"};
    while (check.compared < check.cases) {
        const std::string &alphabet = alphabets[check.below(4)];
        const std::string left = check.letters(alphabet, 40);
        const std::string right = check.one_in(3) ? left.substr(check.below(left.size() + 1)) + check.letters(alphabet, 2)
                                                  : check.letters(alphabet, check.one_in(2) ? 3 : 40);
        const char letter = alphabet[check.below(alphabet.size())];
        const int c = check.one_in(10) ? 0 : check.one_in(2) ? letter + 256 : letter;
        const size_t n = check.below(50), shorter = left.size() < right.size() ? left.size() : right.size();
        compare_finds(check, left.c_str(), left.size(), right.c_str(), right.size(), c, n);
        compare_values(check, left.c_str(), right.c_str(), shorter + 1, n);
        compare_changes(check, left, right.c_str(), shorter + 1, n);
        compare_places(check, left, right);
        compare_tokens(check, left, check.letters(alphabet, 3));
    }
    return check.finish();
}
