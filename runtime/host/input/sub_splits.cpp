#include "input/sub_splits.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace hd {

SubSplits::SubSplits(const RecordOptions &options, Device &device, const Cancel &cancel)
    : records_(options, cancel), buffer_(device), other_(device) {}

// Appends, in a larger buffer if need be; what has been given out already is not kept.
void SubSplits::append(std::string_view piece) {
  if (size_ + piece.size() > buffer_.capacity()) {
    const uint64_t left = size_ - begin_;
    char *to = other_.reserve(2 * left + piece.size());
    if (left) std::memcpy(to, buffer_.data() + begin_, left);
    std::swap(buffer_, other_);
    other_.reset();
    begin_ = 0;
    size_ = left;
  }
  std::memcpy(buffer_.data() + size_, piece.data(), piece.size());
  size_ += piece.size();
}

// Reads on until at least `target` bytes are there; false at the input's end.
bool SubSplits::fill(uint64_t target) {
  while (!source_ended_ && size_ - begin_ < target) {
    const std::string_view piece = records_.next();
    if (piece.empty()) source_ended_ = true;
    else append(piece);
  }
  return !source_ended_;
}

std::string_view SubSplits::take(uint64_t n) {
  begin_ += n;
  return {buffer_.data() + begin_ - n, n};
}

std::string_view SubSplits::next(uint64_t target) {
  if (begin_ > size_ / 2) {
    size_ -= begin_;
    std::memmove(buffer_.data(), buffer_.data() + std::exchange(begin_, 0), size_);
  }
  // One byte more, to know whether anything follows.
  for (uint64_t wanted = target + 1;; wanted = 2 * (size_ - begin_)) {
    const bool more = fill(wanted);
    const char *const data = buffer_.data() + begin_;
    const uint64_t left = size_ - begin_;
    if (!more && left <= target) return take(left);
    const void *cut = ::memrchr(data, '\n', std::min(left, target));
    if (!cut) cut = std::memchr(data, '\n', left);
    if (cut) return take(uint64_t(static_cast<const char *>(cut) - data) + 1);
  }
}

size_t middle_line(std::string_view lines) {
  if (lines.size() < 2) return 0;
  const size_t half = lines.size() / 2;
  const size_t before = lines.rfind('\n', half - 1);
  if (before != lines.npos) return before + 1;
  const size_t after = lines.find('\n', half);
  return after + 1 == lines.size() ? 0 : after + 1;
}

}  // namespace hd
