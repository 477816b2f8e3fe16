#include "input/ingest_kept.h"

#include <algorithm>
#include <stdexcept>

namespace hd {
namespace {

constexpr uint64_t kFirstLook = 4 << 10, kLook = 1 << 20;  // lines are short: most often the first one has the end

}  // namespace

KeptIngest::KeptIngest(IngestRoom &room, std::shared_ptr<const KeptText> text, bool cr_ends, uint64_t sub_split)
    : room_(room), text_(std::move(text)), cr_ends_(cr_ends), target_(std::clamp<uint64_t>(sub_split, 1, kMostSubSplit)) {}

// The text may be given back by another session from now on, whose work is not in order with ours.
KeptIngest::~KeptIngest() {
  try {
    room_.device.sync();
  } catch (const std::runtime_error &) {  // the task has failed for that reason, or the next one will
  }
}

void KeptIngest::limit(uint64_t bytes) { target_ = std::clamp<uint64_t>(bytes, 1, target_); }

SubSplit KeptIngest::next() {
  const uint64_t left = text_->size - at_, rounds = (left + target_ - 1) / target_;
  const SubSplit next{at_, rounds > 1 ? after(at_ + left / rounds - 1, text_->size) - at_ : left};
  at_ += next.size;
  return next;
}

std::string KeptIngest::host_copy(uint64_t from, uint64_t to) {
  std::string copy(to - from, 0);
  room_.device.download(copy.data(), text_->data + from, copy.size());
  return copy;
}

// Behind the first line end at or after x, both bytes of a \r\n; `end`, where a record ends, without one.
uint64_t KeptIngest::after(uint64_t x, uint64_t end) {
  for (uint64_t step = kFirstLook; x < end; step = kLook) {
    const std::string part = host_copy(x, std::min(x + step + 1, end));  // one more for the \n
    const size_t hit = find_line_end(part.data(), std::min<size_t>(part.size(), step), cr_ends_);
    if (hit < part.size())
      return x + hit + (cr_ends_ && part[hit] == '\r' && hit + 1 < part.size() && part[hit + 1] == '\n' ? 2 : 1);
    x += std::min<uint64_t>(part.size(), step);
  }
  return end;
}

uint64_t KeptIngest::middle(const SubSplit &s) {
  if (s.size < 2) return 0;
  const uint64_t half = s.at + s.size / 2 - 1, end = s.at + s.size, cut = after(half, end);
  if (cut < end) return cut - s.at;
  const std::string part = host_copy(s.at, half);  // no line ends in [half, end - 1): not in the middle of a \r\n
  const size_t before = cr_ends_ ? part.find_last_of("\r\n") : part.rfind('\n');
  return before == part.npos ? 0 : before + 1;
}

// A part is copied, for the zeros that stand behind it and its first byte's alignment.
DeviceText KeptIngest::bring(const SubSplit &s) {
  const int32_t delimiter = cr_ends_ ? -1 : '\n';
  if (s.size == text_->size) return {text_->data, s.size, delimiter};
  char *const part = room_.text[0].reserve(s.size + kTextMargin);
  room_.device.copy(part, text_->data + s.at, s.size);
  room_.device.fill(part + s.size, 0, kTextMargin);
  return {part, s.size, delimiter};
}

void KeptIngest::release() {
  for (DeviceBuffer<char> &text : room_.text) text.reset();
}

}  // namespace hd
