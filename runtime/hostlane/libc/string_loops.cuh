// The functions of string.h that look at each byte, of a host kernel: those of the C library that it is linked with.
#pragma once

#include "libc/memory.cuh"

namespace hd {

namespace sys {
extern "C" {
size_t call_strlen(const char *s) __asm__("strlen");
char *strchrnul(const char *s, int c);
size_t strnlen(const char *s, size_t n);
}
}  // namespace sys

// May 16 bytes be looked at, whoever they belong to? Those of the same page may.
HD_DEVICE bool lies_in_page(const char *at) { return (reinterpret_cast<uintptr_t>(at) & 4095) <= 4096 - 16; }

// Most strings of records are short, and a call costs as much as looking at sixteen bytes. The call at the end has a name of its own:
// g++ would take its value from the builtin that only asks for constants, and call that first for every string.
HD_DEVICE size_t strlen(const char *s) {
    if (__builtin_constant_p(__builtin_strlen(s))) return __builtin_strlen(s);
    if (__builtin_expect(lies_in_page(s), 1))
        if (const uint32_t ends = matches16(s, 0)) return static_cast<size_t>(__builtin_ctz(ends));
    return sys::call_strlen(s);
}

HD_DEVICE size_t strnlen(const char *s, size_t n) { return sys::strnlen(s, n); }

HD_DEVICE int byte_of(char c) { return static_cast<unsigned char>(c); }

HD_DEVICE int strcmp(const char *a, const char *b) { return __builtin_strcmp(a, b); }
HD_DEVICE int strncmp(const char *a, const char *b, size_t n) { return __builtin_strncmp(a, b, n); }
HD_DEVICE char *stpcpy(char *to, const char *from) { return __builtin_stpcpy(to, from); }

HD_DEVICE char *strchrnul(const char *s, int c) { return sys::strchrnul(s, c); }

HD_DEVICE char *strchr(const char *s, int c) {
    if (__builtin_expect(lies_in_page(s), 1)) {
        const uint32_t ends = matches16(s, 0), found = matches16(s, static_cast<char>(c));
        if (found | ends) {
            const int first = __builtin_ctz(found | ends);
            return found >> first & 1 ? const_cast<char *>(s) + first : nullptr;
        }
    }
    return const_cast<char *>(__builtin_strchr(s, c));
}

HD_DEVICE char *strrchr(const char *s, int c) { return const_cast<char *>(__builtin_strrchr(s, c)); }
HD_DEVICE char *strstr(const char *hay, const char *needle) { return const_cast<char *>(__builtin_strstr(hay, needle)); }
HD_DEVICE size_t strspn(const char *s, const char *accept) { return __builtin_strspn(s, accept); }
HD_DEVICE size_t strcspn(const char *s, const char *reject) { return __builtin_strcspn(s, reject); }

}  // namespace hd
