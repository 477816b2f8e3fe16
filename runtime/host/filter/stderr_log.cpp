#include "filter/stderr_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

namespace hd {

namespace {

constexpr size_t kMostHeld = 64 << 20;
constexpr uint64_t kHead = 1 << 20;
constexpr size_t kRing = 64 << 10;
constexpr size_t kTailBytes = 4 << 10, kTailLines = 20;
constexpr size_t kLongLine = 64 << 10;  // no reporter line is longer; a longer line flows through
constexpr size_t kMaxCounters = 10000;  // Hadoop stops a job at 120; more than this is data on the wrong stream

// Java's String.trim(): everything up to and including the blank, at both ends.
std::string_view trim(std::string_view s) {
  while (!s.empty() && static_cast<unsigned char>(s.front()) <= ' ') s.remove_prefix(1);
  while (!s.empty() && static_cast<unsigned char>(s.back()) <= ' ') s.remove_suffix(1);
  return s;
}

// Java's Long.parseLong: an optional sign, digits, nothing else, in range.
bool parse_long(std::string_view s, int64_t &value) {
  if (s.size() > 1 && s[0] == '+' && s[1] != '-') s.remove_prefix(1);
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  return error == std::errc() && end == s.data() + s.size();
}

void append_escaped(std::string &to, std::string_view s) {
  for (const char c : s) {
    if (c == '\\') to += "\\\\";
    else if (c == '\t') to += "\\t";
    else to += c;
  }
}

}  // namespace

StderrLog::StderrLog(std::string path, std::string prefix) : path_(std::move(path)), prefix_(std::move(prefix)) {}

StderrLog::~StderrLog() { close(); }

void StderrLog::write(const char *data, size_t n) {
  if (holds_) {
    if (held_.size() + n > kMostHeld) throw Error(kFilterFailed, "there are more than 64 MiB on its standard error");
    held_.append(data, n);
    return;
  }
  while (n > 0) {
    const char *end = static_cast<const char *>(std::memchr(data, '\n', n));
    const size_t used = end ? end - data + 1 : n;
    const std::string_view piece(data, used);
    if (in_long_line_) {
      log(piece);
      in_long_line_ = !end;
    } else if (carry_.empty() && end) {
      line(piece, true);
    } else {
      carry_ += piece;
      if (end || carry_.size() > kLongLine) {
        in_long_line_ = !end;
        line(carry_, end != nullptr);
        carry_.clear();
      }
    }
    data += used;
    n -= used;
  }
}

void StderrLog::end_of_stream() {
  if (std::exchange(goes_on_, false)) return;
  in_long_line_ = false;
  if (!carry_.empty()) line(carry_, true);
  carry_.clear();
}

// `text` holds its \n, if it has one; not `ended`: the beginning of a line too long to be for the reporter.
void StderrLog::line(std::string_view text, bool ended) {
  if (!ended || text.substr(0, prefix_.size()) != prefix_ || !report(text.substr(prefix_.size()))) log(text);
}

bool StderrLog::report(std::string_view text) {
  constexpr std::string_view kCounter = "counter:", kStatus = "status:";
  if (text.substr(0, kCounter.size()) == kCounter) return count(trim(text.substr(kCounter.size())));
  if (text.substr(0, kStatus.size()) != kStatus) return false;
  status_ = trim(text.substr(kStatus.size()));
  return true;
}

bool StderrLog::count(std::string_view text) {
  while (!text.empty() && text.back() == ',') text.remove_suffix(1);  // Java's split drops empty fields at the end
  const size_t first = text.find(',');
  if (first == std::string_view::npos) return false;
  const size_t second = text.find(',', first + 1);
  if (second == std::string_view::npos) return false;
  int64_t amount = 0;
  if (!parse_long(text.substr(second + 1), amount)) return false;
  std::string name;
  append_escaped(name, text.substr(0, first));
  name += '\t';
  append_escaped(name, text.substr(first + 1, second - first - 1));
  auto [at, fresh] = index_.try_emplace(std::move(name), sums_.size());
  if (fresh) {
    if (sums_.size() == kMaxCounters) {
      index_.erase(at);
      return false;
    }
    sums_.emplace_back(at->first, 0);
  }
  sums_[at->second].second += static_cast<uint64_t>(amount);
  return true;
}

void StderrLog::log(std::string_view text) {
  if (logged_ < kHead) to_file(text.substr(0, kHead - logged_));
  std::string_view kept = text.substr(text.size() - std::min(text.size(), kRing));
  uint64_t at = logged_ + (text.size() - kept.size());
  logged_ += text.size();
  if (ring_.size() < kRing) ring_.resize(std::min<uint64_t>(kRing, logged_));
  while (!kept.empty()) {
    const size_t slot = at % kRing, run = std::min(kept.size(), kRing - slot);
    std::memcpy(ring_.data() + slot, kept.data(), run);
    kept.remove_prefix(run);
    at += run;
  }
}

std::string StderrLog::last(size_t n) const {
  n = std::min({static_cast<uint64_t>(n), logged_, static_cast<uint64_t>(kRing)});
  std::string text;
  text.reserve(n);
  for (uint64_t at = logged_ - n; at < logged_; ++at) text += ring_[at % kRing];
  return text;
}

void StderrLog::to_file(std::string_view text) {
  if (path_.empty() || file_failed_) return;
  if (!file_) file_.reset(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  while (file_ && !text.empty()) {
    const ssize_t n = ::write(file_.get(), text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    text.remove_prefix(n);
  }
  file_failed_ = !text.empty();
}

void StderrLog::close() {
  if (closed_) return;
  end_of_stream();
  closed_ = true;
  if (logged_ <= kHead) return;
  const uint64_t rest = logged_ - kHead, shown = std::min<uint64_t>(rest, kRing);
  if (rest > shown) to_file("\n[" + std::to_string(rest - shown) + " bytes of standard error left out]\n");
  to_file(last(shown));
}

std::string StderrLog::counters() const {
  std::string text;
  for (const auto &[name, sum] : sums_) text += name + '\t' + std::to_string(static_cast<int64_t>(sum)) + '\n';
  return text;
}

std::string StderrLog::tail() const {
  const std::string text = last(kTailBytes);
  size_t begin = text.size();
  for (size_t lines = 0; lines < kTailLines && begin > 0; ++lines) {
    const size_t end = begin >= 2 ? text.rfind('\n', begin - 2) : std::string::npos;
    if (end == std::string::npos) {
      begin = 0;
      break;
    }
    begin = end + 1;
  }
  return text.substr(begin);
}

}  // namespace hd
