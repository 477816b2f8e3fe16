// string.h's functions on bytes of known length, of a host kernel: those of the C library that it is linked with, and what
// runtime/device/libc/memory.cuh says of their values.
#pragma once

#include "lane/base.cuh"

namespace hd {

#define HD_BEYOND inline __attribute__((no_sanitize("address")))  // a function that may look behind an object, in its page

namespace sys {
extern "C" {
void *call_memcpy(void *to, const void *from, size_t n) __asm__("memcpy");
void *call_memset(void *to, int value, size_t n) __asm__("memset");
void *memrchr(const void *in, int c, size_t n);
void *rawmemchr(const void *in, int c);
void *memmem(const void *in, size_t n, const void *what, size_t length);
}
}  // namespace sys

// A pointer of which the compiler does not know what it leads to, and how far that reaches.
HD_DEVICE const char *unknown(const char *at) {
    asm("" : "+r"(at));
    return at;
}

// Which of the 16 bytes at `at` are `c`: bit i for byte i.
HD_BEYOND uint32_t matches16(const char *at, char c) {
#ifdef __SSE2__
    typedef char Bytes __attribute__((vector_size(16)));
    typedef char Anywhere __attribute__((vector_size(16), aligned(1), may_alias));
    const Bytes wanted = {c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c};
    const Bytes bytes = *reinterpret_cast<const Anywhere *>(unknown(at));
    return static_cast<uint32_t>(__builtin_ia32_pmovmskb128(bytes == wanted));
#else
    uint32_t found = 0;
    for (int i = 0; i < 16; ++i) found |= static_cast<uint32_t>(at[i] == c) << i;
    return found;
#endif
}

// Which of the 16 bytes at `a` and `b` are equal.
HD_BEYOND uint32_t equal16(const char *a, const char *b) {
#ifdef __SSE2__
    typedef char Bytes __attribute__((vector_size(16)));
    typedef char Anywhere __attribute__((vector_size(16), aligned(1), may_alias));
    const Bytes left = *reinterpret_cast<const Anywhere *>(unknown(a)), right = *reinterpret_cast<const Anywhere *>(unknown(b));
    return static_cast<uint32_t>(__builtin_ia32_pmovmskb128(left == right));
#else
    uint32_t found = 0;
    for (int i = 0; i < 16; ++i) found |= static_cast<uint32_t>(a[i] == b[i]) << i;
    return found;
#endif
}

// Up to 16 bytes, which are all read before any is written.
HD_DEVICE void copy_few(char *to, const char *from, size_t n) {
    if (n >= 8) {
        uint64_t first, last;
        __builtin_memcpy(&first, from, 8);
        __builtin_memcpy(&last, from + n - 8, 8);
        __builtin_memcpy(to, &first, 8);
        __builtin_memcpy(to + n - 8, &last, 8);
    } else if (n >= 4) {
        uint32_t first, last;
        __builtin_memcpy(&first, from, 4);
        __builtin_memcpy(&last, from + n - 4, 4);
        __builtin_memcpy(to, &first, 4);
        __builtin_memcpy(to + n - 4, &last, 4);
    } else if (n != 0) {
        const char first = from[0], middle = from[n / 2], last = from[n - 1];
        to[0] = first;
        to[n / 2] = middle;
        to[n - 1] = last;
    }
}

// Where only the program knows the size g++ copies by an instruction that takes its time to begin.
HD_DEVICE void *memcpy(void *to, const void *from, size_t n) {
    if (__builtin_constant_p(n)) return __builtin_memcpy(to, from, n);
    if (n > 16) return sys::call_memcpy(to, from, n);
    copy_few(static_cast<char *>(to), static_cast<const char *>(from), n);
    return to;
}
HD_DEVICE void *mempcpy(void *to, const void *from, size_t n) { return static_cast<char *>(hd::memcpy(to, from, n)) + n; }
HD_DEVICE void *memmove(void *to, const void *from, size_t n) { return __builtin_memmove(to, from, n); }
HD_DEVICE void *memset(void *to, int value, size_t n) {
    return __builtin_constant_p(n) ? __builtin_memset(to, value, n) : sys::call_memset(to, value, n);
}
HD_DEVICE void bzero(void *to, size_t n) { hd::memset(to, 0, n); }
HD_DEVICE void bcopy(const void *from, void *to, size_t n) { hd::memmove(to, from, n); }

HD_DEVICE int memcmp(const void *left, const void *right, size_t n) {
    if (__builtin_memcmp(left, right, n) == 0) return 0;
    const unsigned char *a = static_cast<const unsigned char *>(left), *b = static_cast<const unsigned char *>(right);
    while (*a == *b) ++a, ++b;
    return *a - *b;
}

// Below 0, 0 or above 0, by unsigned bytes.
HD_DEVICE int bytes_order(const void *left, const void *right, size_t n) { return __builtin_memcmp(left, right, n); }

HD_DEVICE int bcmp(const void *left, const void *right, size_t n) { return hd::memcmp(left, right, n); }

HD_DEVICE void *memchr(const void *in, int c, size_t n) { return const_cast<void *>(__builtin_memchr(in, c, n)); }
HD_DEVICE void *memrchr(const void *in, int c, size_t n) { return sys::memrchr(in, c, n); }
HD_DEVICE void *rawmemchr(const void *in, int c) { return sys::rawmemchr(in, c); }
HD_DEVICE void *memmem(const void *in, size_t n, const void *what, size_t length) {
    return sys::memmem(in, n, what, length);
}

}  // namespace hd
