// string.h's functions on bytes of known length. Values as glibc's on x86-64; comparisons return the difference of the
// first two unequal bytes (memcmp of glibc: only its sign is the same on every processor).
#pragma once

#include "lane/base.cuh"

namespace hd {

HD_DEVICE void *memcpy(void *to, const void *from, size_t n) {
    char *out = static_cast<char *>(to);
    const char *in = static_cast<const char *>(from);
    for (size_t i = 0; i < n; ++i) out[i] = in[i];
    return to;
}

HD_DEVICE void *mempcpy(void *to, const void *from, size_t n) { return static_cast<char *>(hd::memcpy(to, from, n)) + n; }

HD_DEVICE void *memmove(void *to, const void *from, size_t n) {
    char *out = static_cast<char *>(to);
    const char *in = static_cast<const char *>(from);
    if (reinterpret_cast<uintptr_t>(out) - reinterpret_cast<uintptr_t>(in) >= n) return hd::memcpy(to, from, n);
    while (n--) out[n] = in[n];
    return to;
}

HD_DEVICE void *memset(void *to, int value, size_t n) {
    for (size_t i = 0; i < n; ++i) static_cast<char *>(to)[i] = static_cast<char>(value);
    return to;
}

HD_DEVICE void bzero(void *to, size_t n) { hd::memset(to, 0, n); }
HD_DEVICE void bcopy(const void *from, void *to, size_t n) { hd::memmove(to, from, n); }

HD_DEVICE int memcmp(const void *left, const void *right, size_t n) {
    const unsigned char *a = static_cast<const unsigned char *>(left), *b = static_cast<const unsigned char *>(right);
    for (size_t i = 0; i < n; ++i)
        if (a[i] != b[i]) return a[i] - b[i];
    return 0;
}

// Below 0, 0 or above 0, by unsigned bytes.
HD_DEVICE int bytes_order(const void *left, const void *right, size_t n) { return hd::memcmp(left, right, n); }

HD_DEVICE int bcmp(const void *left, const void *right, size_t n) { return hd::memcmp(left, right, n); }

HD_DEVICE void *memchr(const void *in, int c, size_t n) {
    const unsigned char *s = static_cast<const unsigned char *>(in), wanted = static_cast<unsigned char>(c);
    for (size_t i = 0; i < n; ++i)
        if (s[i] == wanted) return const_cast<unsigned char *>(s + i);
    return nullptr;
}

HD_DEVICE void *memrchr(const void *in, int c, size_t n) {
    const unsigned char *s = static_cast<const unsigned char *>(in), wanted = static_cast<unsigned char>(c);
    while (n--)
        if (s[n] == wanted) return const_cast<unsigned char *>(s + n);
    return nullptr;
}

HD_DEVICE void *rawmemchr(const void *in, int c) {
    const unsigned char *s = static_cast<const unsigned char *>(in), wanted = static_cast<unsigned char>(c);
    while (*s != wanted) ++s;
    return const_cast<unsigned char *>(s);
}

// Quadratic, where glibc is linear: the needles of records are short.
HD_NOINLINE void *memmem(const void *in, size_t n, const void *what, size_t length) {
    const char *hay = static_cast<const char *>(in), *needle = static_cast<const char *>(what);
    if (length == 0) return const_cast<char *>(hay);
    for (; n >= length; ++hay, --n)
        if (*hay == *needle && hd::memcmp(hay, needle, length) == 0) return const_cast<char *>(hay);
    return nullptr;
}

}  // namespace hd
