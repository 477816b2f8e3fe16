// Running one streaming filter: spawn it, feed its stdin, take its stdout and stderr, wait for its end.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common.h"

namespace hd {

struct Command {
  std::vector<std::string> argv, env;
  std::string cwd;
  explicit operator bool() const { return !argv.empty(); }
};

// Bytes for a filter's stdin, pulled piece by piece.
struct Source {
  virtual ~Source() = default;
  // The next bytes, valid until the next call; empty = the end. Pieces of 64 KiB or so are best.
  virtual std::string_view next() = 0;
};

// Bytes of a filter's stdout, pushed as they come; cut anywhere.
struct Sink {
  virtual ~Sink() = default;
  virtual void write(const char *data, size_t n) = 0;
  virtual void finish() = 0;  // called once, after the filter has ended and succeeded
};

class StderrLog;  // stderr_log.h

struct FilterEnd {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
  uint64_t unread = 0;  // bytes of its input that the filter can not have read (closed stdin or ended early)
  bool ok() const { return signal == 0 && exit_code == 0; }
};

// Runs the filter to its end. Does not judge the exit status; `out.finish()` is left to the caller.
// Throws Error: kSpawnFailed (errno), kCancelled (the filter's process group has been killed), and whatever
// source or sink throw (the group is killed first).
FilterEnd run_filter(const Command &command, Source &in, Sink &out, StderrLog &err, const Cancel &cancel);

// "exit status 3", "signal 11 (Segmentation fault)".
std::string describe(const FilterEnd &end);

}  // namespace hd
