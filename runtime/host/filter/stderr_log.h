// The stderr of a task's filters: `reporter:` lines become counters and status, the rest goes to the attempt's log.
//
// Syntax as Hadoop Streaming's: `reporter:counter:GROUP,COUNTER,AMOUNT` (AMOUNT a Java long) and
// `reporter:status:TEXT`, each at the beginning of a line. A line that begins so but does not parse goes to the log.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "filter/spawn.h"

namespace hd {

// The log file keeps the first 1 MiB and, written when the log is closed, the last 64 KiB, with a line between them
// that says how much is missing: a filter may print gigabytes. It is made at the first byte. A log that cannot be
// written does not fail the task; its tail is in memory all the same.
class StderrLog {
 public:
  // `path` may be empty: no file. `prefix` is Hadoop's stream.stderr.reporter.prefix.
  explicit StderrLog(std::string path, std::string prefix = "reporter:");
  ~StderrLog();
  StderrLog(const StderrLog &) = delete;
  StderrLog &operator=(const StderrLog &) = delete;

  void write(const char *data, size_t n);
  void end_of_stream();  // one filter's stderr has ended: its last line may lack a line end
  void go_on() { goes_on_ = true; }  // at the next end: another program's stderr is the rest of it
  void hold() { holds_ = true; }  // what is written is kept as it is, for another log, and not looked at
  const std::string &held() const { return held_; }
  void close();          // writes the log's end; called by the destructor too

  std::string counters() const;  // lines GROUP TAB COUNTER TAB SUM; \, tab escaped as \\, \t; in order of appearance
  const std::string &status() const { return status_; }
  std::string tail() const;  // the last 20 lines of the log, at most 4 KiB
  uint64_t bytes() const { return logged_; }

 private:
  void line(std::string_view text, bool ended);
  bool report(std::string_view text);
  bool count(std::string_view text);
  void log(std::string_view text);
  void to_file(std::string_view text);
  std::string last(size_t n) const;

  std::string path_, prefix_;
  Fd file_;
  bool file_failed_ = false, closed_ = false;
  std::string carry_;       // an incomplete line, while it can still be a reporter line
  bool in_long_line_ = false, goes_on_ = false, holds_ = false;
  std::string held_;
  std::string status_;
  std::unordered_map<std::string, size_t> index_;  // GROUP TAB COUNTER, escaped -> position in sums_
  std::vector<std::pair<std::string, uint64_t>> sums_;
  std::string ring_;        // the last bytes of the log, a ring once full
  uint64_t logged_ = 0;
};

}  // namespace hd
