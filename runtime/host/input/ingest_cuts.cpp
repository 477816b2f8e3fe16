#include "input/ingest_cuts.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "input/records.h"

namespace hd {
namespace {

constexpr uint64_t kFirstStep = 4 << 10, kStep = 64 << 10;  // lines are short: most often the first read has the end
constexpr uint64_t kNowhere = UINT64_MAX;

}  // namespace

RecordCuts::RecordCuts(const SplitFile &file, bool cr_ends, const Cancel &cancel)
    : file_(file), cr_ends_(cr_ends), cancel_(cancel), buffer_(new char[kStep]) {
  const uint64_t last = line_end(file.end());
  const uint64_t size = last == kNowhere ? file.size() : 0;
  if (last == kNowhere) file.must_reach(file.end(), std::max(size, file.start()));
  end_ = last == kNowhere ? size : behind(last);
  const uint64_t counted_end = last == kNowhere ? size : last + 1;
  uint64_t counted_begin = 0;
  if (file.start() > 0) {
    const uint64_t first = line_end(file.start());
    begin_ = first == kNowhere ? end_ : std::min(behind(first), end_);
    counted_begin = first == kNowhere ? counted_end : std::min(first + 1, counted_end);
  } else if (marked()) {
    begin_ = std::min<uint64_t>(kBom.size(), end_);
  }
  bytes_ = counted_end - counted_begin;
}

bool RecordCuts::marked() const {
  char start[kBom.size()];
  size_t got = 0;
  for (size_t n = 1; n && got < sizeof start; got += n) n = file_.read(start + got, sizeof start - got, got);
  return std::string_view(start, got) == kBom;
}

// The position of the first byte at or after x that ends a line, kNowhere without one.
uint64_t RecordCuts::line_end(uint64_t x) {
  for (uint64_t step = kFirstStep;; step = kStep) {
    cancel_.check();
    const size_t got = file_.read(buffer_.get(), step, x);
    if (got == 0) return kNowhere;
    const size_t hit = find_line_end(buffer_.get(), got, cr_ends_);
    if (hit < got) return x + hit;
    x += got;
  }
}

// The position of the last byte of [from, to) that ends a line, kNowhere without one.
uint64_t RecordCuts::last_line_end(uint64_t from, uint64_t to) {
  for (uint64_t step = kFirstStep; to > from; step = kStep) {
    cancel_.check();
    const uint64_t n = std::min(to - from, step);
    to -= n;
    file_.read_all(buffer_.get(), n, to);
    const std::string_view text(buffer_.get(), n);
    const size_t hit = cr_ends_ ? text.find_last_of("\r\n") : text.rfind('\n');
    if (hit != text.npos) return to + hit;
  }
  return kNowhere;
}

// The offset behind the line end at this position.
uint64_t RecordCuts::behind(uint64_t line_end) {
  char two[2] = {};
  for (size_t got = 0, n = 1; n && got < 2; got += n) n = file_.read(two + got, 2 - got, line_end + got);
  return line_end + (cr_ends_ && two[0] == '\r' && two[1] == '\n' ? 2 : 1);
}

uint64_t RecordCuts::after(uint64_t x) {
  const uint64_t found = x < file_.end() ? line_end(x) : kNowhere;
  return found == kNowhere ? end_ : std::min(behind(found), end_);
}

// A record that is too long holds one of these places, which are as far from each other as a record may be long.
void RecordCuts::check_lengths(uint64_t from, uint64_t to, uint64_t longest) {
  for (uint64_t at = from + longest; at < to; at += longest) {
    const uint64_t before = last_line_end(from, at), behind = line_end(at);
    const uint64_t begin = before == kNowhere ? from : before + 1;
    if (std::min(behind, to) - begin > longest) throw_too_long(file_.path(), begin, longest);
  }
}

uint64_t RecordCuts::middle(uint64_t from, uint64_t to) {
  if (to - from < 2) return 0;
  const uint64_t half = from + (to - from) / 2 - 1;
  const uint64_t cut = after(half);
  if (cut < to) return cut;
  const uint64_t before = last_line_end(from, half);  // no line ends in [half, to - 1): not in the middle of a \r\n
  return before == kNowhere ? 0 : before + 1;
}

}  // namespace hd
