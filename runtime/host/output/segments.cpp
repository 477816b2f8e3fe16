#include "output/segments.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/crc32.h"

namespace hd {
namespace {

// The end of a segment whose records have the checksum `sum`.
void put_end(char *to, uint32_t sum) {
  to[0] = to[1] = char(0xff);
  sum = crc32(sum, to, 2);
  for (int i = 0; i < 4; ++i) to[2 + i] = char(sum >> (24 - 8 * i));
}

}  // namespace

RunSegments::RunSegments(std::vector<uint64_t> start, uint64_t piece)
    : start_(std::move(start)), count_(start_.size() - 1), piece_(piece), parts_((bytes() + piece - 1) / piece) {}

// The segment that byte `at` of the file is in.
uint64_t RunSegments::segment_at(uint64_t at) const {
  uint64_t low = 0, high = count_;  // begin(low) <= at < begin(high)
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    (begin(middle) <= at ? low : high) = middle;
  }
  return low;
}

uint64_t RunSegments::data_before(uint64_t at) const {
  if (at >= bytes()) return start_[count_];
  const uint64_t p = segment_at(at);
  return start_[p] + std::min(at - begin(p), length(p));
}

void RunSegments::place(char *room, uint64_t from, uint64_t n) {
  const char *data = room + n - (data_before(from + n) - data_before(from));
  Part *part = parts_[from / piece_].data();
  for (uint64_t p = segment_at(from); p < count_ && begin(p) < from + n; ++p) {
    const uint64_t first = std::max(begin(p), from), end = std::min(begin(p) + length(p), from + n);
    const uint64_t held = end > first ? end - first : 0;
    char *const to = room + (first - from);
    std::memmove(to, data, held);  // to the left, or nowhere
    data += held;
    const uint32_t sum = crc32(0, to, held);
    if (first == begin(p) && begin(p + 1) <= from + n) put_end(to + held, sum);
    else *part++ = {p, held, sum};
  }
}

void RunSegments::finish(const OutputFile &file) const {
  Part whole;
  const auto write_end = [&] {
    if (whole.segment == kNone) return;
    char end[kEnd];
    put_end(end, whole.sum);
    file.write_at(end, kEnd, begin(whole.segment) + length(whole.segment));
  };
  for (const std::array<Part, 2> &parts : parts_)
    for (const Part &part : parts) {
      if (part.segment == kNone) continue;
      if (part.segment != whole.segment) write_end(), whole = {part.segment, 0, 0};
      whole.sum = crc32_joined(whole.sum, part.sum, part.bytes);
    }
  write_end();
}

std::vector<IndexEntry> RunSegments::index() const {
  std::vector<IndexEntry> index;
  index.reserve(count_);
  for (uint64_t p = 0; p < count_; ++p) index.push_back({begin(p), length(p) + 2, length(p) + kEnd});
  return index;
}

}  // namespace hd
