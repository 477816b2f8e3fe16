// Shared small things of the native runtime: errors, cancelling, counters. No Python, no GPU here.
#pragma once
#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace hd {

// Outcome of a task, as the C ABI reports it (api.h has the same numbers).
enum TaskStatus : int32_t {
  kOk = 0,
  kFilterFailed = 1,      // map or reduce filter: exit code or signal
  kSpawnFailed = 2,       // the filter could not be started; error_number says why
  kCombinerFailed = 3,    // exit code or signal of the combiner
  kCombinerDisorder = 4,  // combiner output left its key order or its partition
  kIoError = 5,
  kCancelled = 6,
  kRetryNoFold = 7,  // a pair does not read back after a spill was combined: run again, combiner once per task
  kBadInput = 8,
  kInternal = 9,
  kRunOnCpu = 10,      // a task on a device: not to be done exactly there
  kDeviceFailed = 11,  // the device itself
  kInputLine = 12,     // a record is longer than is allowed
  kOutputLine = 13,    // a filter printed a line that is longer than is allowed
  kTimedOut = 14,      // a filter was silent for too long
  kHostLeft = 15,      // a host kernel gave up: the filters have to do the task
  kHostSilent = 16,    // the same, because it was silent for too long
  kKeyOrder = 17,      // keys that the comparator of the job does not put into an order
  kMemory = 18,        // a filter used more memory than it may
};

// Every failure inside the runtime; caught at the C ABI.
struct Error : std::runtime_error {
  TaskStatus status;
  int error_number;  // errno, or 0
  int exit_code = -1, signal = 0;
  uint64_t input_read = 0, record = 0;  // of a filter that failed, where that is known
  Error(TaskStatus s, const std::string &what, int err = 0) : std::runtime_error(what), status(s), error_number(err) {}
};

// Set from another thread; polled at least ten times a second, by readers of a device's input too.
struct Cancel {
  const volatile int32_t *flag = nullptr;
  bool requested() const { return flag && __atomic_load_n(flag, __ATOMIC_RELAXED); }
  void check() const {
    if (requested()) throw Error(kCancelled, "cancelled");
  }
};

enum Counter : int {
  kMapInputRecords,
  kMapInputBytes,
  kMapOutputRecords,
  kMapOutputBytes,
  kCombineInputRecords,
  kCombineOutputRecords,
  kSpilledRecords,
  kSpills,
  kMapOutputMaterializedBytes,
  kReduceInputGroups,
  kReduceInputRecords,
  kReduceOutputRecords,
  kUnreadablePairs,
  kCombineUnreadBytes,
  kCounters
};

struct Counters {
  uint64_t value[kCounters] = {};
  void add(Counter c, uint64_t n = 1) { value[c] += n; }
};

}  // namespace hd
