// Short byte strings as two machine words: loading, hashing, and big-endian prefixes for sorting.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace hd {

// Fetches a cache line early. The empty asm keeps g++ from taking a function that only prefetches for one without
// effect and dropping its calls.
inline void prefetch(const void *p) {
  __builtin_prefetch(p);
  asm volatile("" : : "r"(p));
}

constexpr size_t kShort = 16;  // bytes that fit two words

// The bytes in memory order, zero-padded.
struct Words {
  uint64_t lo = 0, hi = 0;
};

// n <= kShort bytes at p. Word lengths are random, so branching on n would mispredict on every other pair: 16 bytes
// are loaded and masked. The load may touch bytes behind the string, never another page.
inline Words load_words(const char *p, size_t n) {
  Words w;
#if defined(__SSE2__) && !defined(__SANITIZE_ADDRESS__)
  if ((reinterpret_cast<uintptr_t>(p) & 4095) <= 4096 - kShort) [[likely]] {
    alignas(16) static constexpr unsigned char kMask[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                            255, 255, 255, 255, 255, 255, 255, 255};
    asm("" : "+r"(p));  // the compiler must not reason from the string's size about the wider load
    const __m128i mask = _mm_loadu_si128(reinterpret_cast<const __m128i *>(kMask + kShort - n));
    const __m128i v = _mm_and_si128(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p)), mask);
    w.lo = uint64_t(_mm_cvtsi128_si64(v));
    w.hi = uint64_t(_mm_cvtsi128_si64(_mm_unpackhi_epi64(v, v)));
    return w;
  }
#endif
  if (n) memcpy(&w, p, n);
  return w;
}

// Copies n bytes, as one load and one store when they are few: kShort bytes at `to` may be overwritten whatever n is.
inline char *copy_text(char *to, const char *from, size_t n) {
  if (n <= kShort) {
    const Words w = load_words(from, n);
    memcpy(to, &w, kShort);
  } else {
    memcpy(to, from, n);
  }
  return to + n;
}

inline uint64_t mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return uint64_t(product) ^ uint64_t(product >> 64);
}

constexpr uint64_t kSeed0 = 0x9e3779b97f4a7c15, kSeed1 = 0xd6e8feb86659fd93, kSeed2 = 0xa0761d6478bd642f;

inline uint64_t hash_words(Words w, size_t n) { return mix(mix(w.lo ^ kSeed0, w.hi ^ kSeed1) ^ n, kSeed2); }

// Any length above kShort.
inline uint64_t hash_bytes(const char *p, size_t n) {
  uint64_t h = kSeed2;
  for (size_t at = 0; at < n; at += kShort) {
    const Words w = load_words(p + at, n - at < kShort ? n - at : kShort);
    h = mix(w.lo ^ kSeed0 ^ h, w.hi ^ kSeed1);
  }
  return mix(h ^ n, kSeed2);
}

// A word as a number that compares like its bytes.
inline uint64_t ordered(uint64_t word) {
  if constexpr (std::endian::native == std::endian::little) return __builtin_bswap64(word);
  return word;
}

// The eight bytes from `depth` on, zero-padded, in order.
inline uint64_t prefix_at(std::string_view s, size_t depth) {
  uint64_t word = 0;
  if (depth < s.size()) memcpy(&word, s.data() + depth, s.size() - depth < 8 ? s.size() - depth : 8);
  return ordered(word);
}

}  // namespace hd
