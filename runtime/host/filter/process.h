// Running one streaming filter: spawn it, feed its stdin, take its stdout and stderr, wait for its end.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/common.h"

namespace hd {

struct Command {
  std::vector<std::string> argv, env;
  std::string cwd;
  uint32_t linger_ms = 10000;  // see run_filter
  uint32_t timeout_ms = 0;     // see run_filter; 0 = none
  uint64_t memory = 0;         // see run_filter; 0 = any
  int data_fd = -1;            // becomes the child's descriptor 3; stays ours
  int more_fd = -1;            // becomes the child's descriptor 4, where there is a data_fd; stays ours. Both above 4 then
  explicit operator bool() const { return !argv.empty(); }
};

// Where bytes lie in an open file; fd < 0: nowhere.
struct FileBytes {
  int fd = -1;
  int64_t offset = 0;
};

// Bytes for a filter's stdin, pulled piece by piece.
struct Source {
  virtual ~Source() = default;
  // The next bytes, valid until the next call; empty = the end. Pieces of 64 KiB or so are best.
  virtual std::string_view next() = 0;
  // Where the bytes that next() gave last lie, if they lie in a file just so. A pipe can then take the file's pages
  // (splice) instead of a copy of them.
  virtual FileBytes origin() const { return {}; }
  // A file that the filter reads itself as its stdin, from where it stands on; next() gives nothing then. -1: there is none.
  virtual int file() const { return -1; }
  // It has read that file up to here.
  virtual void reached(int64_t) {}
  // The next bytes are wanted only when the filter has read those that next() gave last.
  virtual bool alone() const { return false; }
};

// What a filter reads, in one run or in several, one behind the other (watched_source.h): from byte `from` on it gets records
// one by one (UINT64_MAX: never). `of`: what the records are counted in, for a message.
struct Watch {
  uint64_t from = UINT64_MAX;
  const char *of = "its input";
  uint64_t given = 0, records = 0;  // in the runs before; records where they are watched
};

// Bytes of a filter's stdout, pushed as they come; cut anywhere.
struct Sink {
  virtual ~Sink() = default;
  virtual void write(const char *data, size_t n) = 0;
  virtual void finish() = 0;  // called once, after the filter has ended and succeeded
};

class StderrLog;  // stderr_log.h

// Where the time of one run went, in seconds. The first four are wall clock and add up to (nearly) all of it.
struct FilterTimes {
  double read = 0;  // in Source::next
  double feed = 0;  // system calls on the filter's pipes
  double wait = 0;  // nothing to do until the filter reads, writes or ends
  double sink = 0;  // in Sink::write
  double cpu = 0;   // user and system time of the filter and its waited-for children
};

struct FilterEnd {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
  uint64_t unread = 0;  // bytes of its input that the filter can not have read (closed stdin or ended early)
  uint64_t read = 0;    // bytes of its input that it can have read
  FilterTimes times;
  bool ok() const { return signal == 0 && exit_code == 0; }
};

// Runs the filter to its end. Does not judge the exit status; `out.finish()` is left to the caller. A filter that
// stops reading is fine: if it then ends with status 0, the rest of `in` is pulled all the same (and counted in
// `unread`), so that record counts do not depend on how full a pipe was.
//
// Output is complete at the end of file, not at the filter's end: a process that it started may still hold its
// stdout. Hadoop waits for it until the task timeout. We wait while it writes; after `linger_ms` without a byte the
// task fails by name, since taking what has come could lose output. A process that holds only stderr is not waited
// for, nor is any after a failed filter. What is left of the process group is killed in every case.
//
// A filter that neither takes (from its pipe or file) nor writes a byte for `timeout_ms` while we wait for it is killed. Lines
// on stderr count, as Hadoop's status and counters do; time that we need ourselves, to read or to sort, does not.
//
// One that has, with what it started, more than `memory` bytes in use is killed; that is looked at ten times a second, as long
// as we serve it.
//
// Throws Error: kTimedOut, kMemory, kSpawnFailed (errno), kCancelled (the filter's process group has been killed), kFilterFailed (see
// above), and whatever source or sink throw (the group is killed first).
FilterEnd run_filter(const Command &command, Source &in, Sink &out, StderrLog &err, const Cancel &cancel);

// "exit status 3", "signal 11 (Segmentation fault)".
std::string describe(const FilterEnd &end);

}  // namespace hd
