#include "input/records.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "input/delimiter_cut.h"

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

void throw_too_long(const std::string &path, uint64_t at, uint64_t longest) {
  const std::string where = path.empty() ? "" : path + ": ";
  throw Error(kInputLine, where + "the record that begins at byte " + std::to_string(at) + " has more than " +
                              std::to_string(longest) + " bytes");
}

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
    if (at_ > 0) {
      phase_ = Phase::kDrop;
      at_ = behind_cut_delimiter(*file_, at_, options_.delimiter);
    }
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
  passed_.clear();
  if (lines_ && options_.skip_from) return next_short_lines();
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

// The next bytes of the split as its file has them, up to the end of the last line; false where there are none.
bool RecordSource::raw_lines(char *&data, size_t &n) {
  while (phase_ != Phase::kDone) {
    if (size_ == 0 && !fill()) return false;
    if (phase_ == Phase::kDrop && !drop_line()) continue;
    if (phase_ == Phase::kDone || size_ == 0) continue;
    data = buffer_.get() + begin_;
    n = size_;
    if (at_ + n > end_) {
      const size_t first = end_ > at_ ? end_ - at_ : 0;
      const size_t hit = find_line_end(data + first, n - first, cr_ends_);
      if (hit != kNone) {
        n = first + hit + 1;
        phase_ = Phase::kDone;
      }
    }
    bytes_ += n;
    consume(n);
    return true;
  }
  return false;
}

std::string_view RecordSource::next_lines() {
  char *data;
  size_t n;
  while (raw_lines(data, n)) {
    const bool as_is = !cr_ends_ || (!skip_lf_ && find_byte(data, n, '\r') == kNone);
    origin_ = as_is && file_ ? FileBytes{file_->fd(), static_cast<int64_t>(at_ - n)} : FileBytes{};
    if (options_.longest) check_lengths(data, n, !as_is);
    if (!as_is) n = unify_line_ends(data, n, skip_lf_);
    if (n == 0) continue;
    records_ += count_newlines(data, n);
    open_ = data[n - 1] != '\n';
    return {data, n};
  }
  return close_record(buffer_.get(), 0);
}

// `n` more bytes of the record that is open, the last of them before the file's byte `at`.
void RecordSource::grow(size_t n, uint64_t at) {
  length_ += n;
  if (options_.longest && length_ > options_.longest) throw_too_long(options_.path, at - length_, options_.longest);
}

// Looks at the bytes before at_. Lines that begin and end in here are no longer than it: most often it is two looks.
void RecordSource::check_lengths(const char *data, size_t n, bool cr_ends) {
  const uint64_t begin = at_ - n;
  for (size_t from = 0; from < n;) {
    const size_t run = std::min(find_line_end(data + from, n - from, cr_ends), n - from);
    from += run;
    grow(run, begin + from);
    if (from == n) return;
    length_ = 0;
    const std::string_view rest(data + from, options_.longest < n ? 1 : n - from);
    from += (cr_ends ? rest.find_last_of("\r\n") : rest.rfind('\n')) + 1;
  }
}

std::string_view RecordSource::next_short_lines() {
  char *data;
  size_t n;
  while (passed_.empty() && raw_lines(data, n)) cut_short_lines(data, n);
  if (passed_.empty()) {
    if (cr_last_ || length_) end_short(cr_last_ ? 1 + lf_follows() : 0);
    cr_last_ = false;
    phase_ = Phase::kDone;
  }
  return passed_;
}

// Behind a \r that ends the split's text, whose \n counts though it is not read.
bool RecordSource::lf_follows() {
  char next = 0;
  return size_ ? buffer_[begin_] == '\n' : file_ && read_some(&next, 1) == 1 && next == '\n';
}

// Of the bytes before at_ the lines that are short enough go to passed_.
void RecordSource::cut_short_lines(const char *data, size_t n) {
  const uint64_t begin = at_ - n;
  size_t from = 0;
  if (skip_lf_ || cr_last_) from = data[0] == '\n';
  if (cr_last_) end_short(1 + from);
  skip_lf_ = cr_last_ = false;
  while (from < n) {
    const size_t hit = find_line_end(data + from, n - from, cr_ends_), run = std::min(hit, n - from);
    add_short(data + from, run, begin + from + run);
    from += run;
    if (hit == kNone) return;
    const bool cr = data[from] == '\r';
    cr_last_ = cr && from + 1 == n;
    if (cr_last_) return;
    const size_t line_end = 1 + (cr && data[from + 1] == '\n');
    end_short(line_end);
    from += line_end;
  }
}

void RecordSource::add_short(const char *data, size_t n, uint64_t at) {
  if (options_.longest < options_.skip_from) grow(n, at);
  else length_ += n;
  if (length_ < options_.skip_from) short_.append(data, n);
  else short_.clear();
}

void RecordSource::end_short(size_t line_end) {
  if (length_ + line_end < options_.skip_from) {
    passed_ += short_;
    passed_ += '\n';
    ++records_;
  }
  short_.clear();
  length_ = 0;
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
    if (options_.skip_from) add_short(data + from, run, at_ + from + run);
    else grow(run, at_ + from + run);
    if (written != from) std::memmove(data + written, data + from, run);
    written += run;
    from += run;
    open_ = open_ || run > 0;
    if (hit == kNone) break;
    if (at_ + from >= end_) phase_ = Phase::kDone;
    from += options_.delimiter.size();
    open_ = false;
    if (options_.skip_from) {
      end_short(options_.delimiter.size());
      continue;
    }
    data[written++] = '\n';
    length_ = 0;
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
    const bool ends = at_end && phase_ != Phase::kDone;
    if (options_.skip_from) {
      if (ends && length_) end_short(0);
      if (ends) phase_ = Phase::kDone;
      if (!passed_.empty()) return passed_;
      continue;
    }
    if (ends) return close_record(data, written);
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
