#include "base/crc32.h"

#include "../../hostlane/reduce/crc32.h"

namespace hd {
namespace {

// The product of two polynomials over two elements modulo the checksum's; the highest bit is the constant term.
uint32_t product(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (uint32_t bit = 1u << 31; bit; bit >>= 1) {
    if (a & bit) sum ^= b;
    b = (b >> 1) ^ (b & 1 ? 0xEDB88320u : 0);
  }
  return sum;
}

}  // namespace

// n bytes more behind a text multiply its checksum by x^(8n): the inversions at both ends cancel out.
uint32_t crc32_joined(uint32_t first, uint32_t second, uint64_t second_bytes) {
  uint32_t power = 1u << 23;  // x^8
  for (uint64_t n = second_bytes; n; n >>= 1, power = product(power, power))
    if (n & 1) first = product(first, power);
  return first ^ second;
}

uint32_t crc32_portable(uint32_t crc, const void *data, size_t n) {
  return crc_portable(crc, static_cast<const char *>(data), n);
}

uint32_t crc32(uint32_t crc, const void *data, size_t n) { return crc_continued(crc, static_cast<const char *>(data), n); }

}  // namespace hd
