// Pairs as the text a filter reads, key TAB value NL (or another separator), in pieces for its stdin.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ifile/ifile.h"
#include "base/key_words.h"
#include "filter/process.h"

namespace hd {

class LineBuffer {
 public:
  static constexpr size_t kPiece = 64 << 10;
  LineBuffer() = default;
  explicit LineBuffer(std::string_view separator) : separator_(separator) {}
  // Adds the line up to `count` times, as far as there is room; returns how many. An empty buffer takes at least one.
  uint64_t add(std::string_view key, std::string_view value, uint64_t count) {
    const size_t n = key.size() + separator_.size() + value.size() + 1;
    if (n > capacity_ - used_) {
      if (used_ != 0) return 0;
      capacity_ = std::max(n, kPiece);
      buffer_.reset(new char[capacity_ + kShort]);
    }
    char *const p = buffer_.get() + used_;
    char *const middle = copy_text(p, key.data(), key.size());
    separator_.copy(middle, separator_.size());
    *copy_text(middle + separator_.size(), value.data(), value.size()) = '\n';
    if (count > 1) {
      count = std::min<uint64_t>(count, (capacity_ - used_) / n);
      replicate(p, n, count);
    }
    used_ += n * count;
    return count;
  }
  void clear() {
    if (capacity_ > kPiece) capacity_ = 0;  // a huge line's buffer is not kept
    used_ = 0;
  }
  std::string_view view() const { return {buffer_.get(), used_}; }

 private:
  std::string separator_ = "\t";
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0, used_ = 0;
};

// Text of what `Cursor::next(key, value, count)` yields; adds the pairs to `records`. The cursor's views must stay
// valid until its next call.
template <class Cursor>
class TextSource final : public Source {
 public:
  TextSource(Cursor cursor, uint64_t &records, const Cancel &cancel, std::string_view separator = "\t")
      : cursor_(std::move(cursor)), records_(records), cancel_(cancel), lines_(separator) {}

  std::string_view next() override {
    cancel_.check();
    lines_.clear();
    while (left_ || cursor_.next(key_, value_, left_)) {
      const uint64_t n = lines_.add(key_, value_, left_);
      if (n == 0) break;
      left_ -= n;
      records_ += n;
    }
    return lines_.view();
  }

 private:
  Cursor cursor_;
  uint64_t &records_;
  const Cancel &cancel_;
  LineBuffer lines_;
  std::string_view key_, value_;
  uint64_t left_ = 0;  // lines of the current pair still to give
};

}  // namespace hd
