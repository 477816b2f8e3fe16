// string.h and strings.h of glibc 2.36 in the C locale, but for strerror, and for what allocates. strcmp and its kin
// return the difference of the first two unequal bytes, as glibc's x86-64 code does.
#pragma once

#include "libc/ctype.cuh"
#include "libc/memory.cuh"
#include "libc/string_loops.cuh"

namespace hd {

HD_DEVICE int lower_byte_of(char c) { return tolower(byte_of(c)); }

HD_DEVICE int strcoll(const char *a, const char *b) { return hd::strcmp(a, b); }

HD_DEVICE int strcasecmp(const char *a, const char *b) {
    while (*a && lower_byte_of(*a) == lower_byte_of(*b)) ++a, ++b;
    return lower_byte_of(*a) - lower_byte_of(*b);
}

HD_DEVICE int strncasecmp(const char *a, const char *b, size_t n) {
    for (; n && *a && lower_byte_of(*a) == lower_byte_of(*b); --n) ++a, ++b;
    return n ? lower_byte_of(*a) - lower_byte_of(*b) : 0;
}

HD_DEVICE char *strcpy(char *to, const char *from) {
    hd::stpcpy(to, from);
    return to;
}

HD_DEVICE char *stpncpy(char *to, const char *from, size_t n) {
    size_t i = 0;
    for (; i < n && from[i]; ++i) to[i] = from[i];
    char *const end = to + i;
    for (; i < n; ++i) to[i] = 0;
    return end;
}

HD_DEVICE char *strncpy(char *to, const char *from, size_t n) {
    hd::stpncpy(to, from, n);
    return to;
}

HD_DEVICE char *strcat(char *to, const char *from) {
    hd::stpcpy(to + hd::strlen(to), from);
    return to;
}

HD_DEVICE char *strncat(char *to, const char *from, size_t n) {
    char *end = to + hd::strlen(to);
    for (; n && *from; --n) *end++ = *from++;
    *end = 0;
    return to;
}

HD_DEVICE char *index(const char *s, int c) { return hd::strchr(s, c); }
HD_DEVICE char *rindex(const char *s, int c) { return hd::strrchr(s, c); }

HD_NOINLINE char *strcasestr(const char *hay, const char *needle) {
    for (;; ++hay) {
        size_t i = 0;
        while (needle[i] && lower_byte_of(hay[i]) == lower_byte_of(needle[i])) ++i;
        if (!needle[i]) return const_cast<char *>(hay);
        if (!hay[i]) return nullptr;
    }
}

HD_DEVICE char *strpbrk(const char *s, const char *accept) {
    s += hd::strcspn(s, accept);
    return *s ? const_cast<char *>(s) : nullptr;
}

HD_NOINLINE char *strtok_r(char *s, const char *delimiters, char **saved) {
    if (!s) s = *saved;
    s += hd::strspn(s, delimiters);
    char *const end = s + hd::strcspn(s, delimiters);
    *saved = *end ? end + 1 : end;
    if (end == s) return nullptr;
    *end = 0;
    return s;
}

// `token` is the state that C's strtok hides: one per lane.
HD_DEVICE char *strtok(char *&token, char *s, const char *delimiters) { return hd::strtok_r(s, delimiters, &token); }

HD_DEVICE char *strsep(char **rest, const char *delimiters) {
    char *const start = *rest;
    if (!start) return nullptr;
    char *const end = start + hd::strcspn(start, delimiters);
    *rest = *end ? end + 1 : nullptr;
    if (*end) *end = 0;
    return start;
}

}  // namespace hd
