#include "device/radix_sort.h"

#include <algorithm>
#include <array>
#include <utility>

namespace hd {
namespace {

constexpr int kDigitBits = 8;

// One pass of counting sort by `bits` bits from `shift` on. Nothing moves where all digits are equal.
void sort_digit(SortBuffers &b, uint64_t n, int shift, int bits) {
  const uint64_t mask = (uint64_t(1) << bits) - 1;
  std::array<uint64_t, 1 << kDigitBits> place{};
  for (uint64_t i = 0; i < n; ++i) ++place[b.keys[i] >> shift & mask];
  if (std::find(place.begin(), place.end(), n) != place.end()) return;
  uint64_t sum = 0;
  for (uint64_t &p : place) sum += std::exchange(p, sum);
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t to = place[b.keys[i] >> shift & mask]++;
    b.other_keys[to] = b.keys[i];
    b.other_values[to] = b.values[i];
  }
  std::swap(b.keys, b.other_keys);
  std::swap(b.values, b.other_values);
}

}  // namespace

void radix_sort(SortBuffers &buffers, uint64_t n, int begin_bit, int end_bit) {
  for (int shift = begin_bit; shift < end_bit; shift += kDigitBits)
    sort_digit(buffers, n, shift, std::min(kDigitBits, end_bit - shift));
}

}  // namespace hd
