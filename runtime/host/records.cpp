#include "records.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace hd {

namespace {

constexpr size_t kPastEnd = 64 << 10;  // how far beyond the split's end one read goes: the last record's rest is short
constexpr size_t kNone = SIZE_MAX;

size_t find_byte(const char *data, size_t n, char c) {
  const void *hit = n ? std::memchr(data, c, n) : nullptr;
  return hit ? static_cast<const char *>(hit) - data : kNone;
}

size_t find_bytes(const char *data, size_t n, const std::string &what) {
  const void *hit = n >= what.size() ? memmem(data, n, what.data(), what.size()) : nullptr;
  return hit ? static_cast<const char *>(hit) - data : kNone;
}

// Makes every line end one \n, in place (never longer). `skip_lf`: see RecordSource. Returns the new length.
size_t unify_line_ends(char *data, size_t n, bool &skip_lf) {
  size_t from = 0, to = 0;
  if (skip_lf && n) {
    skip_lf = false;
    from = data[0] == '\n';
  }
  while (from < n) {
    const size_t cr = find_byte(data + from, n - from, '\r');
    const size_t run = std::min(cr, n - from);
    if (to != from) std::memmove(data + to, data + from, run);
    to += run;
    from += run;
    if (cr == kNone) break;
    data[to++] = '\n';
    if (++from == n)
      skip_lf = true;
    else if (data[from] == '\n')
      ++from;
  }
  return to;
}

}  // namespace

size_t find_line_end(const char *data, size_t n, bool cr_ends) {
  const size_t lf = find_byte(data, n, '\n');
  if (!cr_ends) return lf;
  const size_t cr = find_byte(data, std::min(n, lf), '\r');
  return cr != kNone ? cr : lf;
}

uint64_t count_newlines(const char *data, size_t n) {
  constexpr size_t kLanes = 64, kRounds = 255;  // byte counters that cannot wrap: the compiler makes vectors of them
  uint64_t total = 0;
  size_t i = 0;
  while (n - i >= kLanes) {
    uint8_t lane[kLanes] = {};
    const size_t rounds = std::min(kRounds, (n - i) / kLanes);
    for (size_t r = 0; r < rounds; ++r, i += kLanes)
      for (size_t j = 0; j < kLanes; ++j) lane[j] += data[i + j] == '\n';
    uint32_t sum = 0;
    for (size_t j = 0; j < kLanes; ++j) sum += lane[j];
    total += sum;
  }
  for (; i < n; ++i) total += data[i] == '\n';
  return total;
}

RecordSource::RecordSource(const RecordOptions &options, const Cancel &cancel) : options_(options), cancel_(cancel) {
  lines_ = options_.delimiter.empty() || options_.delimiter == "\n";
  cr_ends_ = options_.delimiter.empty();
  if (options_.fd < 0) {
    file_.emplace(options_.path, options_.start, options_.length);
    at_ = file_->start();
    end_ = file_->end();
    if (at_ > 0) phase_ = Phase::kDrop;
  }
  options_.chunk = std::max<size_t>(options_.chunk, 1);
  // Room for what a cut delimiter leaves over, for the mark and the delimiter behind it, and for the last \n.
  capacity_ = options_.chunk + options_.delimiter.size() + kBom.size() + 1;
  buffer_.reset(new char[capacity_]);
}

size_t RecordSource::read_pipe(char *to, size_t n) {
  for (;;) {
    cancel_.check();
    pollfd ready{options_.fd, POLLIN, 0};
    const int got = ::poll(&ready, 1, 50);
    if (got == 0 || (got < 0 && errno == EINTR)) continue;
    const ssize_t r = ::read(options_.fd, to, n);
    if (r >= 0) return static_cast<size_t>(r);
    if (errno != EINTR && errno != EAGAIN)
      throw Error(kIoError, "cannot read the task's input pipe: " + std::string(std::strerror(errno)), errno);
  }
}

size_t RecordSource::read_some(char *to, size_t n) {
  return file_ ? file_->read(to, n, at_ + size_) : read_pipe(to, n);
}

size_t RecordSource::wanted() const {
  const uint64_t offset = at_ + size_;
  const uint64_t left = end_ > offset ? end_ - offset : 0;
  return left >= options_.chunk ? options_.chunk : std::min<uint64_t>(options_.chunk, left + kPastEnd);
}

bool RecordSource::fill() {
  if (size_ && begin_) std::memmove(buffer_.get(), buffer_.get() + begin_, size_);
  begin_ = 0;
  // At offset 0 one more rule looks at the first bytes: read until it can decide.
  const size_t enough = started_ || at_ > 0 ? 1 : kBom.size() + std::max<size_t>(options_.delimiter.size(), 1) - 1;
  size_t got = 0;
  while (got < enough) {
    const size_t n = read_some(buffer_.get() + size_, std::min(std::max(wanted(), enough), capacity_ - 1 - size_));
    if (n == 0) break;
    got += n;
    size_ += n;
  }
  if (!started_) skip_bom();
  started_ = true;
  if (got == 0) check_whole();
  return got > 0;
}

void RecordSource::skip_bom() {
  if (at_ != 0 || std::string_view(buffer_.get(), size_).substr(0, kBom.size()) != kBom) return;
  // Hadoop looks at the first record, not at the file: a delimiter inside the mark makes the record too short for it.
  const std::string &d = options_.delimiter;
  if (!d.empty() && find_bytes(buffer_.get(), std::min(size_, kBom.size() + d.size() - 1), d) != kNone) return;
  bytes_ += kBom.size();
  consume(kBom.size());
}

void RecordSource::consume(size_t n) {
  begin_ += n;
  size_ -= n;
  at_ += n;
}

void RecordSource::check_whole() const {
  if (file_) file_->must_reach(end_, at_ + size_);
}

std::string_view RecordSource::next() {
  origin_ = {};
  if (phase_ == Phase::kDone) return {};
  return lines_ ? next_lines() : next_delimited();
}

// The buffer holds the split's beginning: drops the line that the split before reads. False: the line goes on.
bool RecordSource::drop_line() {
  const size_t hit = find_line_end(buffer_.get() + begin_, size_, cr_ends_);
  if (hit == kNone) {
    consume(size_);
    return false;
  }
  skip_lf_ = buffer_[begin_ + hit] == '\r';
  phase_ = at_ + hit >= end_ ? Phase::kDone : Phase::kRecords;
  consume(hit + 1);
  return true;
}

std::string_view RecordSource::next_lines() {
  while (phase_ != Phase::kDone) {
    if (size_ == 0 && !fill()) return close_record(buffer_.get(), 0);
    if (phase_ == Phase::kDrop && !drop_line()) continue;
    if (phase_ == Phase::kDone || size_ == 0) continue;
    char *data = buffer_.get() + begin_;
    size_t n = size_;
    if (at_ + n > end_) {
      const size_t first = end_ > at_ ? end_ - at_ : 0;
      const size_t hit = find_line_end(data + first, n - first, cr_ends_);
      if (hit != kNone) {
        n = first + hit + 1;
        phase_ = Phase::kDone;
      }
    }
    const bool as_is = !cr_ends_ || (!skip_lf_ && find_byte(data, n, '\r') == kNone);
    origin_ = as_is && file_ ? FileBytes{file_->fd(), static_cast<int64_t>(at_)} : FileBytes{};
    bytes_ += n;
    consume(n);
    if (!as_is) n = unify_line_ends(data, n, skip_lf_);
    if (n == 0) continue;
    records_ += count_newlines(data, n);
    open_ = data[n - 1] != '\n';
    return {data, n};
  }
  return {};
}

bool RecordSource::drop_delimited(bool at_end) {
  const size_t d = options_.delimiter.size();
  const size_t hit = find_bytes(buffer_.get() + begin_, size_, options_.delimiter);
  if (hit == kNone) {
    consume(at_end ? size_ : size_ - std::min(size_, d - 1));
    return false;
  }
  phase_ = at_ + hit >= end_ ? Phase::kDone : Phase::kRecords;
  consume(hit + d);
  return true;
}

// Turns every whole delimiter of the buffer into \n, in place; `written` bytes of output. Returns the bytes used up:
// all but the last `keep`, which may be the beginning of a delimiter.
size_t RecordSource::cut_delimited(size_t keep, size_t &written) {
  char *data = buffer_.get() + begin_;
  size_t from = 0;
  while (phase_ == Phase::kRecords) {
    const size_t hit = find_bytes(data + from, size_ - from, options_.delimiter);
    const size_t rest = size_ - from;
    const size_t run = hit != kNone ? hit : rest - std::min(rest, keep);
    if (written != from) std::memmove(data + written, data + from, run);
    written += run;
    from += run;
    open_ = open_ || run > 0;
    if (hit == kNone) break;
    if (at_ + from >= end_) phase_ = Phase::kDone;
    data[written++] = '\n';
    from += options_.delimiter.size();
    open_ = false;
    ++records_;
  }
  return from;
}

std::string_view RecordSource::next_delimited() {
  while (phase_ != Phase::kDone) {
    const bool at_end = !fill();
    if (phase_ == Phase::kDrop && !drop_delimited(at_end)) {
      if (at_end) phase_ = Phase::kDone;
      continue;
    }
    if (phase_ == Phase::kDone) break;
    char *data = buffer_.get() + begin_;
    size_t written = 0;
    const size_t used = cut_delimited(at_end ? 0 : options_.delimiter.size() - 1, written);
    bytes_ += used;
    consume(used);
    if (at_end && phase_ != Phase::kDone) return close_record(data, written);
    if (written) return {data, written};
  }
  return {};
}

// The file's end: the last record may lack its line end. `written` bytes of output stand at `data` already.
std::string_view RecordSource::close_record(char *data, size_t written) {
  phase_ = Phase::kDone;
  if (open_) {
    data[written++] = '\n';
    open_ = false;
    ++records_;
  }
  return {data, written};
}

bool PeekSource::empty() {
  if (!peeked_) {
    first_ = source_.next();
    peeked_ = pending_ = true;
  }
  return first_.empty();
}

std::string_view PeekSource::next() {
  if (!peeked_) return source_.next();
  if (!pending_) return first_.empty() ? std::string_view() : source_.next();
  pending_ = false;
  return first_;
}

}  // namespace hd
