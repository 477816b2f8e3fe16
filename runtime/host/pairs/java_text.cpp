#include "pairs/java_text.h"

namespace hd {
namespace {

bool continues(std::string_view s, size_t at) { return at < s.size() && (uint8_t(s[at]) & 0xc0) == 0x80; }

struct Sequence {
  size_t size;  // bytes that count together
  bool valid;
};

// Whether a second byte may follow the first one, which wants `more` of them. A surrogate is malformed as a whole.
bool fits(uint8_t first, uint8_t second) {
  if (first == 0xe0) return second >= 0xa0;
  if (first == 0xf0) return second >= 0x90;
  if (first == 0xf4) return second < 0x90;
  return true;
}

// The sequence at `at`: a character, or as many bytes as Java replaces by one U+FFFD.
Sequence sequence(std::string_view s, size_t at) {
  const uint8_t first = uint8_t(s[at]);
  if (first < 0x80) return {1, true};
  const size_t more = first >= 0xc2 && first <= 0xdf ? 1 : first >= 0xe0 && first <= 0xef ? 2 : first >= 0xf0 && first <= 0xf4 ? 3 : 0;
  if (more == 0 || !continues(s, at + 1) || !fits(first, uint8_t(s[at + 1]))) return {1, false};
  size_t size = 2;
  while (size <= more && continues(s, at + size)) ++size;
  const bool surrogate = first == 0xed && uint8_t(s[at + 1]) >= 0xa0;
  return {size, size == more + 1 && !surrogate};
}

}  // namespace

std::string java_text(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    const Sequence one = sequence(bytes, at);
    text += one.valid ? bytes.substr(at, one.size) : std::string_view("\xef\xbf\xbd");
    at += one.size;
  }
  return text;
}

uint32_t java_hash(std::string_view text) {
  uint32_t hash = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t size = sequence(text, at).size;
    uint32_t code = uint8_t(text[at]);
    if (size > 1) code &= 0xff >> (size + 1);
    for (size_t i = 1; i < size; ++i) code = code << 6 | (uint8_t(text[at + i]) & 0x3f);
    at += size;
    if (code >= 0x10000) {  // two units of UTF-16
      hash = 31 * hash + (0xd800 + ((code - 0x10000) >> 10));
      code = 0xdc00 + ((code - 0x10000) & 0x3ff);
    }
    hash = 31 * hash + code;
  }
  return hash;
}

}  // namespace hd
