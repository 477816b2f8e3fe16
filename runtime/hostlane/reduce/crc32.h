// CRC-32 (zlib, IEEE 802.3), as IFile and its index use it: of the host runtime and of host kernels, which have no header of the
// system's. So there is none here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hd {

struct CrcTables {
    uint32_t of[8][256];  // of[k][b]: byte b with k zero bytes behind it

    constexpr CrcTables() : of{} {
        for (uint32_t b = 0; b < 256; ++b) {
            uint32_t c = b;
            for (int i = 0; i < 8; ++i) c = (c >> 1) ^ (c & 1 ? 0xEDB88320u : 0);
            of[0][b] = c;
        }
        for (int k = 1; k < 8; ++k)
            for (uint32_t b = 0; b < 256; ++b) of[k][b] = (of[k - 1][b] >> 8) ^ of[0][of[k - 1][b] & 0xff];
    }
};
inline constexpr CrcTables crc_tables;

// Of the inverted register, eight bytes a step where words are little endian.
inline uint32_t crc_by_tables(uint32_t c, const char *from, size_t n) {
    const auto &t = crc_tables.of;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (; n >= 8; from += 8, n -= 8) {
        uint32_t low, high;
        __builtin_memcpy(&low, from, 4);
        __builtin_memcpy(&high, from + 4, 4);
        low ^= c;
        c = t[7][low & 0xff] ^ t[6][low >> 8 & 0xff] ^ t[5][low >> 16 & 0xff] ^ t[4][low >> 24] ^ t[3][high & 0xff] ^
            t[2][high >> 8 & 0xff] ^ t[1][high >> 16 & 0xff] ^ t[0][high >> 24];
    }
#endif
    for (; n; ++from, --n) c = (c >> 8) ^ t[0][(c ^ static_cast<unsigned char>(*from)) & 0xff];
    return c;
}

#ifdef __x86_64__
typedef long long CrcLane __attribute__((vector_size(16)));
typedef long long CrcAnywhere __attribute__((vector_size(16), aligned(1), may_alias));

// x times the two distances in k (x^distance mod P, reflected), plus the next 16 bytes.
__attribute__((target("pclmul"))) inline CrcLane crc_fold(CrcLane x, CrcLane k, CrcLane next) {
    return __builtin_ia32_pclmulqdq128(x, k, 0x00) ^ __builtin_ia32_pclmulqdq128(x, k, 0x11) ^ next;
}

// By carry-less multiplication, four lanes of 16 bytes at a time (Gopal et al., "Fast CRC Computation Using PCLMULQDQ", Intel
// 2009); the 16 bytes that are left are congruent to all that was read, so that tables finish them. n >= 64.
__attribute__((target("pclmul"))) inline uint32_t crc_by_lanes(uint32_t c, const char *from, size_t n) {
    const CrcLane by64 = {0x0154442bd4, 0x01c6e41596}, by16 = {0x01751997d0, 0x00ccaa009e};
    const CrcAnywhere *at = reinterpret_cast<const CrcAnywhere *>(from);
    CrcLane x0 = at[0], x1 = at[1], x2 = at[2], x3 = at[3];
    x0[0] ^= c;
    for (at += 4, n -= 64; n >= 64; at += 4, n -= 64) {
        x0 = crc_fold(x0, by64, at[0]);
        x1 = crc_fold(x1, by64, at[1]);
        x2 = crc_fold(x2, by64, at[2]);
        x3 = crc_fold(x3, by64, at[3]);
    }
    x0 = crc_fold(crc_fold(crc_fold(x0, by16, x1), by16, x2), by16, x3);
    for (; n >= 16; ++at, n -= 16) x0 = crc_fold(x0, by16, *at);
    return crc_by_tables(crc_by_tables(0, reinterpret_cast<const char *>(&x0), 16), reinterpret_cast<const char *>(at), n);
}
#endif

// Continues `crc` (0 at the start) over n bytes, without special instructions.
inline uint32_t crc_portable(uint32_t crc, const char *from, size_t n) { return ~crc_by_tables(~crc, from, n); }

// The same; by carry-less multiplication where the CPU has it.
inline uint32_t crc_continued(uint32_t crc, const char *from, size_t n) {
#ifdef __x86_64__
    if (n >= 64 && __builtin_cpu_supports("pclmul")) return ~crc_by_lanes(~crc, from, n);
#endif
    return crc_portable(crc, from, n);
}

}  // namespace hd
