#include "input/delimiter_cut.h"

#include <algorithm>
#include <memory>

namespace hd {
namespace {

constexpr uint64_t kWindow = 64 << 10;  // bytes of the file that are held

bool overlaps_itself(std::string_view text) {
  for (size_t n = 1; n < text.size(); ++n)
    if (text.substr(text.size() - n) == text.substr(0, n)) return true;
  return false;
}

// Is the delimiter at a place? Places come near each other.
class Places {
 public:
  Places(const SplitFile &file, std::string_view delimiter)
      : file_(file), delimiter_(delimiter), window_(kWindow + 2 * delimiter.size()), bytes_(new char[window_]) {}

  bool has(uint64_t at) {
    if (at < from_ || at + delimiter_.size() > from_ + held_) move_to(at);
    return at + delimiter_.size() <= from_ + held_ &&
           std::string_view(bytes_.get() + (at - from_), delimiter_.size()) == delimiter_;
  }

  // The last place in front of `at` where it is and overlaps what begins at `at`; `at` itself: there is none.
  uint64_t overlapping(uint64_t at) {
    const uint64_t reach = std::min<uint64_t>(at, delimiter_.size() - 1);
    for (uint64_t back = 1; back <= reach; ++back)
      if (has(at - back)) return at - back;
    return at;
  }

 private:
  void move_to(uint64_t at) {
    from_ = at - std::min<uint64_t>(at, window_ / 2);
    for (held_ = 0; held_ < window_;) {
      const size_t got = file_.read(bytes_.get() + held_, window_ - held_, from_ + held_);
      if (got == 0) break;
      held_ += got;
    }
  }

  const SplitFile &file_;
  const std::string_view delimiter_;
  const uint64_t window_;
  std::unique_ptr<char[]> bytes_;
  uint64_t from_ = 0, held_ = 0;
};

}  // namespace

uint64_t behind_cut_delimiter(const SplitFile &file, uint64_t cut, std::string_view delimiter) {
  if (!overlaps_itself(delimiter)) return cut;
  Places places(file, delimiter);
  uint64_t at = cut;
  for (uint64_t before; (before = places.overlapping(at)) != at;) at = before;
  while (at < cut) at += places.has(at) ? delimiter.size() : 1;
  return at;
}

}  // namespace hd
