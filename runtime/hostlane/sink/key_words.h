// A key as two words, by which it is found: itself where it has at most sixteen bytes, else its first eight and a hash.
#pragma once

#include "libc/string_loops.cuh"

namespace hd {

struct KeyWords {
    uint64_t first, second;
    uint64_t length;
};

constexpr uint64_t short_key = 16;

HD_DEVICE uint64_t mix(uint64_t a, uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a ^ 0x9e3779b97f4a7c15ull) * (b ^ 0xd6e8feb86659fd93ull);
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

HD_DEVICE uint64_t word_at(const char *at) {
    uint64_t word;
    __builtin_memcpy(&word, at, 8);
    return word;
}

// Sixteen ones, then sixteen zeros: from `16 - n` on, n ones.
alignas(32) inline constexpr unsigned char byte_marks[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                             255, 255, 255, 255, 255, 255, 255, 255};

HD_NOINLINE KeyWords long_key_words(const char *key, uint64_t n) {
    uint64_t hash = n, i = 0;
    for (; i + 8 <= n; i += 8) hash = mix(hash, word_at(key + i));
    return {word_at(key), mix(hash, word_at(key + n - 8)), n};
}

HD_NOINLINE KeyWords copied_key_words(const char *key, uint64_t n) {
    char text[16] = {};
    for (uint64_t i = 0; i < n; ++i) text[i] = key[i];
    return {word_at(text), word_at(text + 8), n};
}

HD_BEYOND KeyWords key_words(const char *key, uint64_t n) {
    if (__builtin_expect(n > short_key, 0)) return long_key_words(key, n);
    if (__builtin_expect(!lies_in_page(key), 0)) return copied_key_words(key, n);
    const char *const marks = reinterpret_cast<const char *>(byte_marks) + 16 - n;
    const char *const at = unknown(key);
    return {word_at(at) & word_at(marks), word_at(at + 8) & word_at(marks + 8), n};
}

HD_DEVICE uint64_t hash_of(const KeyWords &key) { return mix(key.first + key.length, key.second); }

}  // namespace hd
