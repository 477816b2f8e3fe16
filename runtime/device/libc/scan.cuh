// sscanf and scanf as glibc's (library.cuh) in the C locale, over any source of characters:
//     struct Source { int peek(); int get(); };   // the next character as unsigned char, -1 at the end
// Not treated: %p, %m, wide characters (%ls, %lc, %S, %C), long double, positions (%1$d), the ' and I flags, bytes beyond
// ASCII in the format outside of %[...], and floating-point fields longer than 127 characters. The result is then
// scan_unsupported; some targets may have been written.
#pragma once

#include "libc/numbers.cuh"
#include "libc/scan_set.cuh"

namespace hd {

constexpr int scan_end = -1, scan_unsupported = -2, scan_outside = -3;  // EOF; and what no C library returns

struct StringSource {
    const char *at;

    HD_DEVICE int peek() const { return *at ? static_cast<unsigned char>(*at) : -1; }
    HD_DEVICE int get() { return *at ? static_cast<unsigned char>(*at++) : -1; }
};

// One call. `c` is the character read last; it stays in the source until the next one is read, so that it can be put back.
// Limited: `rooms` has for each target how many bytes it may take.
template <class Source, bool Limited = false>
struct Scanner {
    enum Step : uint8_t { matched, mismatch, input_ended, unsupported, outside };

    Source &in;
    int &err;
    void *const *targets;
    const uint64_t *rooms = nullptr;
    uint64_t left_there = 0;  // of the room of the target that is being written
    int done = 0;
    long count = 0;     // characters read
    int c = 0;
    bool held = false;  // `c` is still in the source
    int err_at_end = 0;

    HD_DEVICE Scanner(Source &from, int &error, void *const *to) : in(from), err(error), targets(to) {}

    HD_NOINLINE int run(const char *format) {
        bool skip = false;  // white space in the format waits for what follows it
        Step step = matched;
        while (step == matched && *format) {
            const int f = static_cast<unsigned char>(*format++);
            if (f > 127)
                step = unsupported;
            else if (space_char(f))
                skip = true;
            else if (f == '%')
                step = convert(format, skip);
            else
                step = literal(f, skip);
        }
        if (step == matched && skip) skip_space();
        if (held) in.get();
        if (step == unsupported) return scan_unsupported;
        if (step == outside) return scan_outside;
        return step == input_ended && done == 0 ? scan_end : done;
    }

private:
    HD_DEVICE int next() {
        if (c < 0) {  // the end is not asked for twice; glibc sets errno back to what it was there
            err = err_at_end;
            return c;
        }
        if (held) in.get();
        c = in.peek();
        if (c < 0) err_at_end = err;
        held = c >= 0;
        count += held;
        return c;
    }

    HD_DEVICE void put_back() {
        count -= held;
        held = false;
    }

    HD_DEVICE void skip_space() {
        while (space_char(next())) {
        }
        put_back();
    }

    // Before a conversion glibc skips with an errno of its own.
    HD_DEVICE void skip_space_before() {
        if (c < 0) return;
        const int saved = err;
        err = 0;
        skip_space();
        err = saved;
    }

    HD_DEVICE Step literal(int wanted, bool &skip) {
        if (next() < 0) return input_ended;
        for (; skip && space_char(c);)
            if (next() < 0) return input_ended;
        skip = false;
        if (c == wanted) return matched;
        put_back();
        return mismatch;
    }

    // The next target, for as many bytes as have room there.
    HD_DEVICE void *take() {
        if (Limited) left_there = *rooms++;
        return *targets++;
    }

    HD_DEVICE bool has_room(uint64_t size) {
        if (!Limited) return true;
        const bool enough = size <= left_there;
        left_there -= size;
        return enough;
    }

    // A character, where there is a target.
    HD_DEVICE bool put(char *&to, char value) {
        if (to == nullptr) return true;
        if (!has_room(1)) return false;
        *to++ = value;
        return true;
    }

    template <class T> HD_DEVICE Step store(T value) {
        T *const to = static_cast<T *>(take());
        if (!has_room(sizeof value)) return outside;
        *to = value;
        return matched;
    }

    HD_DEVICE Step store_integer(const ScanDirective &directive, long value) {
        switch (directive.length) {
        case ScanDirective::hh: return store(static_cast<signed char>(value));
        case ScanDirective::h: return store(static_cast<short>(value));
        case ScanDirective::l: return store(value);
        default: return store(static_cast<int>(value));
        }
    }

    HD_DEVICE Step convert(const char *&format, bool &skip) {
        const ScanDirective directive = read_directive(format);
        const char letter = directive.letter;
        if (letter == 0) return mismatch;
        if (directive.length == ScanDirective::foreign) return unsupported;
        if (skip || (letter != '[' && letter != 'c' && letter != 'C' && letter != 'n')) skip_space_before();
        skip = false;
        switch (letter) {
        case '%': return literal('%', skip);
        case 'n':
            return directive.stores ? store_integer(directive, count) : matched;
        case 'd': return integer(directive, 10, true);
        case 'i': return integer(directive, 0, true);
        case 'u': return integer(directive, 10, false);
        case 'o': return integer(directive, 8, false);
        case 'x': case 'X': return integer(directive, 16, false);
        case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A': return real(directive);
        case 'c': return directive.length == ScanDirective::l ? unsupported : characters(directive);
        case 's': return directive.length == ScanDirective::l ? unsupported : word(directive);
        case '[': return set(directive, format);
        case 'p': case 'S': case 'C': return unsupported;
        default: return mismatch;
        }
    }

    HD_DEVICE Step characters(const ScanDirective &directive) {
        char *to = directive.stores ? static_cast<char *>(take()) : nullptr;
        if (next() < 0) return input_ended;
        int left = directive.width < 0 ? 1 : directive.width;
        do
            if (!put(to, static_cast<char>(c))) return outside;
        while (--left > 0 && next() >= 0);
        done += directive.stores;
        return matched;
    }

    HD_DEVICE Step word(const ScanDirective &directive) {
        char *to = directive.stores ? static_cast<char *>(take()) : nullptr;
        if (next() < 0) return input_ended;
        int left = directive.width;
        do {
            if (space_char(c)) {
                put_back();
                break;
            }
            if (!put(to, static_cast<char>(c))) return outside;
        } while ((left <= 0 || --left > 0) && next() >= 0);
        if (!put(to, 0)) return outside;
        done += directive.stores;
        return matched;
    }

    HD_DEVICE Step set(const ScanDirective &directive, const char *&format) {
        ScanSet wanted;
        if (!wanted.read(format)) return mismatch;
        if (directive.length == ScanDirective::l) return unsupported;
        char *to = directive.stores ? static_cast<char *>(take()) : nullptr;
        const long before = count;
        if (next() < 0) return input_ended;
        int left = directive.width < 0 ? INT32_MAX : directive.width;
        do {
            if (!wanted.has(c)) {
                put_back();
                break;
            }
            if (!put(to, static_cast<char>(c))) return outside;
        } while (--left > 0 && next() >= 0);
        if (count == before) return mismatch;
        if (!put(to, 0)) return outside;
        done += directive.stores;
        return matched;
    }

    // glibc puts one character back at most: of "0x" before something else it takes both as a zero.
    HD_DEVICE Step integer(const ScanDirective &directive, int base, bool is_signed) {
        int left = directive.width;
        if (next() < 0) return input_ended;
        ParsedInteger parsed{0, c == '-', false};
        bool any = false;
        if (c == '-' || c == '+') advance(left);
        if (left != 0 && c == '0') {
            any = true;
            advance(left);
            if (left != 0 && (c | 0x20) == 'x' && (base == 0 || base == 16)) {
                base = 16;
                advance(left);
            } else if (HD_BINARY_SCANS && left != 0 && (c | 0x20) == 'b' && base == 0) {
                base = 2;
                advance(left);
            } else if (base == 0) {
                base = 8;
            }
        }
        if (base == 0) base = 10;
        for (; c >= 0 && left != 0 && digit_value(c) < base; advance(left)) {
            any = true;
            add_digit(parsed, digit_value(c), base);
        }
        put_back();
        if (!any) return mismatch;
        const long value = is_signed ? signed_value(err, parsed) : static_cast<long>(unsigned_value(err, parsed));
        if (directive.stores && store_integer(directive, value) == outside) return outside;
        done += directive.stores;
        return matched;
    }

    HD_DEVICE void advance(int &left) {
        left -= left > 0;
        next();
    }

    // The characters of a floating-point field, as strtod shall read them.
    struct Field {
        char text[128];
        int n = 0;
        bool full = false;

        HD_DEVICE void add(int character) {
            full |= n >= 127;
            if (!full) text[n++] = static_cast<char>(character);
        }
        HD_DEVICE bool ends_in(int character) const { return n > 0 && text[n - 1] == character; }
    };

    HD_DEVICE Step real(const ScanDirective &directive) {
        Field field;
        const Step step = read_field(field, directive.width);
        if (step != matched) return step;
        if (field.full) return unsupported;
        field.text[field.n] = 0;
        char *end;
        const bool is_double = directive.length == ScanDirective::l;
        const uint64_t bits = parse_real(err, field.text, &end, is_double ? double_format() : float_format());
        if (end == field.text) return mismatch;
        if (directive.stores && is_double && store(double_of(bits)) == outside) return outside;
        if (directive.stores && !is_double && store(float_of(static_cast<uint32_t>(bits))) == outside) return outside;
        done += directive.stores;
        return matched;
    }

    HD_DEVICE Step read_field(Field &field, int left) {
        if (next() < 0) return input_ended;
        left -= left > 0;
        const bool sign = c == '-' || c == '+';
        if (sign) {
            field.add(c);
            if (left == 0 || next() < 0) return mismatch;
            left -= left > 0;
        }
        if ((c | 0x20) == 'n') {
            const Step step = rest_of(field, "nan", left);
            return HD_SCANNED_PAYLOADS && step == matched ? payload(field, left) : step;
        }
        if ((c | 0x20) == 'i') {
            const Step step = rest_of(field, "inf", left);
            if (step != matched || left == 0 || next() < 0) return step;
            if ((c | 0x20) == 'i') return infinity(field, left);
            put_back();
            return matched;
        }
        return read_digits(field, left, sign);
    }

    // What may follow "nan": letters and digits in parentheses, of which the last must be there.
    HD_DEVICE Step payload(Field &field, int left) {
        if (left == 0 || next() < 0) return matched;
        if (c != '(') {
            put_back();
            return matched;
        }
        do {
            field.add(c);
            left -= left > 0;
            if (left == 0 || next() < 0) return mismatch;
        } while (digit_char(c) || alpha_char(c) || c == '_');
        if (c != ')') return mismatch;
        field.add(c);
        return matched;
    }

    HD_DEVICE Step infinity(Field &field, int left) {
        left -= left > 0;
        return rest_of(field, "inity", left);
    }

    // `c` is the first letter of `word`; the others must follow.
    HD_DEVICE Step rest_of(Field &field, const char *word, int &left) {
        for (field.add(c); *++word; field.add(c)) {
            if (left == 0 || next() < 0 || (c | 0x20) != *word) return mismatch;
            left -= left > 0;
        }
        return matched;
    }

    HD_DEVICE Step read_digits(Field &field, int left, int sign) {
        bool hexadecimal = false, digits = false, point = false, exponent = false;
        if (left != 0 && c == '0') {
            field.add(c);
            advance(left);
            hexadecimal = left != 0 && (c | 0x20) == 'x';
            digits = !hexadecimal;
            if (hexadecimal) {
                field.add(c);
                advance(left);
            }
        }
        const int exponent_letter = hexadecimal ? 'p' : 'e';
        for (;; left -= left > 0) {
            if (digit_char(c) || (hexadecimal && !exponent && hex_char(c))) {
                field.add(c);
                digits = true;
            } else if (exponent && field.ends_in(exponent_letter) && (c == '-' || c == '+')) {
                field.add(c);
            } else if (digits && !exponent && (c | 0x20) == exponent_letter) {
                field.add(exponent_letter);
                exponent = point = true;
            } else if (!point && c == '.') {
                field.add(c);
                point = true;
            } else {
                put_back();
                break;
            }
            if (left == 0 || next() < 0) break;
        }
        const bool empty = field.n == sign || (hexadecimal && field.n == 2 + sign);
        return empty ? mismatch : matched;
    }
};

// The same where a target may have too little room: scan_outside.
template <class Source>
HD_DEVICE int scan(Source &source, int &err, const char *format, void *const *targets, const uint64_t *rooms) {
    Scanner<Source, true> scanner(source, err, targets);
    scanner.rooms = rooms;
    return scanner.run(format);
}

// `targets`: the pointers that C passes, in order. Returns what C returns, EOF being scan_end, or scan_unsupported.
template <class Source>
HD_DEVICE int scan(Source &source, int &err, const char *format, void *const *targets) {
    return Scanner<Source>(source, err, targets).run(format);
}

// sscanf.
HD_DEVICE int sscan(int &err, const char *s, const char *format, void *const *targets) {
    StringSource source{s};
    return Scanner<StringSource>(source, err, targets).run(format);
}

}  // namespace hd
