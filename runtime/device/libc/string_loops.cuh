// The functions of string.h that look at each byte, which the others (strings.cuh) are made of. A host kernel has the C
// library's own in their place (runtime/hostlane/libc).
#pragma once

#include "libc/string_words.cuh"

namespace hd {

HD_DEVICE size_t strlen(const char *s) {
    const char *end = s;
    while (*end) ++end;
    return static_cast<size_t>(end - s);
}

HD_DEVICE size_t strnlen(const char *s, size_t n) {
    size_t length = 0;
    while (length < n && s[length]) ++length;
    return length;
}

HD_DEVICE int byte_of(char c) { return static_cast<unsigned char>(c); }

HD_DEVICE int strcmp(const char *a, const char *b) {
    skip_equal_words(a, b);
    while (*a && *a == *b) ++a, ++b;
    return byte_of(*a) - byte_of(*b);
}

HD_DEVICE int strncmp(const char *a, const char *b, size_t n) {
    for (; n && *a && *a == *b; --n) ++a, ++b;
    return n ? byte_of(*a) - byte_of(*b) : 0;
}

HD_DEVICE char *stpcpy(char *to, const char *from) {
    copy_words(to, from);
    while ((*to = *from)) ++to, ++from;
    return to;
}

HD_DEVICE char *strchrnul(const char *s, int c) {
    while (*s && *s != static_cast<char>(c)) ++s;
    return const_cast<char *>(s);
}

HD_DEVICE char *strchr(const char *s, int c) {
    char *const found = hd::strchrnul(s, c);
    return *found == static_cast<char>(c) ? found : nullptr;
}

HD_DEVICE char *strrchr(const char *s, int c) {
    const char *last = nullptr;
    do
        if (*s == static_cast<char>(c)) last = s;
    while (*s++);
    return const_cast<char *>(last);
}

// Quadratic, where glibc is linear: the needles of records are short.
HD_NOINLINE char *strstr(const char *hay, const char *needle) {
    for (;; ++hay) {
        size_t i = 0;
        while (needle[i] && hay[i] == needle[i]) ++i;
        if (!needle[i]) return const_cast<char *>(hay);
        if (!hay[i]) return nullptr;
    }
}

HD_DEVICE size_t strspn(const char *s, const char *accept) {
    size_t n = 0;
    while (s[n] && hd::strchr(accept, s[n])) ++n;
    return n;
}

HD_DEVICE size_t strcspn(const char *s, const char *reject) {
    size_t n = 0;
    while (s[n] && !hd::strchr(reject, s[n])) ++n;
    return n;
}

}  // namespace hd
