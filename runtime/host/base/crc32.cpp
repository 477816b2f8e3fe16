#include "base/crc32.h"

#include <array>
#include <bit>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hd {
namespace {

constexpr uint32_t kPolynomial = 0xEDB88320;  // bit-reflected

// tables[k][b]: the CRC of byte b followed by k zero bytes.
constexpr auto make_tables() {
  std::array<std::array<uint32_t, 256>, 8> t{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t c = b;
    for (int i = 0; i < 8; ++i) c = (c >> 1) ^ (c & 1 ? kPolynomial : 0);
    t[0][b] = c;
  }
  for (uint32_t b = 0; b < 256; ++b)
    for (size_t k = 1; k < 8; ++k) t[k][b] = (t[k - 1][b] >> 8) ^ t[0][t[k - 1][b] & 0xff];
  return t;
}
constexpr auto kTables = make_tables();

// Works on the inverted register; eight bytes a step.
uint32_t slice8(uint32_t c, const unsigned char *p, size_t n) {
  const auto &t = kTables;
  if constexpr (std::endian::native == std::endian::little) {
    for (; n >= 8; p += 8, n -= 8) {
      uint32_t lo, hi;
      memcpy(&lo, p, 4);
      memcpy(&hi, p + 4, 4);
      lo ^= c;
      c = t[7][lo & 0xff] ^ t[6][lo >> 8 & 0xff] ^ t[5][lo >> 16 & 0xff] ^ t[4][lo >> 24] ^ t[3][hi & 0xff] ^
          t[2][hi >> 8 & 0xff] ^ t[1][hi >> 16 & 0xff] ^ t[0][hi >> 24];
    }
  }
  for (; n; ++p, --n) c = (c >> 8) ^ t[0][(c ^ *p) & 0xff];
  return c;
}

#if defined(__x86_64__)
#define HD_CLMUL __attribute__((target("pclmul,sse4.1")))

// x times the two constants in k (x^distance mod P, reflected), plus the next 16 bytes.
HD_CLMUL inline __m128i fold(__m128i x, __m128i k, __m128i next) {
  const __m128i lo = _mm_clmulepi64_si128(x, k, 0x00), hi = _mm_clmulepi64_si128(x, k, 0x11);
  return _mm_xor_si128(_mm_xor_si128(lo, hi), next);
}

HD_CLMUL inline __m128i load(const unsigned char *p) { return _mm_loadu_si128(reinterpret_cast<const __m128i *>(p)); }

// Folds four lanes of 16 bytes (Gopal et al., "Fast CRC Computation Using PCLMULQDQ", Intel 2009); the remaining
// 16 bytes are congruent to all that was read, so the table method finishes them. n >= 64.
HD_CLMUL uint32_t clmul(uint32_t c, const unsigned char *p, size_t n) {
  const __m128i by64 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4), by16 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
  __m128i x[4];
  for (int i = 0; i < 4; ++i) x[i] = load(p + 16 * i);
  x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128(int(c)));
  for (p += 64, n -= 64; n >= 64; p += 64, n -= 64)
    for (int i = 0; i < 4; ++i) x[i] = fold(x[i], by64, load(p + 16 * i));
  for (int i = 1; i < 4; ++i) x[0] = fold(x[0], by16, x[i]);
  for (; n >= 16; p += 16, n -= 16) x[0] = fold(x[0], by16, load(p));
  alignas(16) unsigned char rest[16];
  _mm_store_si128(reinterpret_cast<__m128i *>(rest), x[0]);
  return slice8(slice8(0, rest, 16), p, n);
}
#endif

}  // namespace

uint32_t crc32_portable(uint32_t crc, const void *data, size_t n) {
  return ~slice8(~crc, static_cast<const unsigned char *>(data), n);
}

uint32_t crc32(uint32_t crc, const void *data, size_t n) {
#if defined(__x86_64__)
  static const bool fast = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
  if (fast && n >= 64) return ~clmul(~crc, static_cast<const unsigned char *>(data), n);
#endif
  return crc32_portable(crc, data, n);
}

}  // namespace hd
