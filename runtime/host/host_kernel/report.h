// What a host kernel says of its run on its descriptor 3, and what follows from how it ended: it did its task, or nothing of it
// counts (docs/decisions/0021-host-kernels-are-programs.md).
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "filter/process.h"
#include "filter/spawn.h"

namespace hd {

// Its exit status where it gives the task up, for the reason in its report.
constexpr int kHostGaveUp = 90;

// Lines `name value` on its descriptor 3, each name once, and behind them the totals, where records gather. `left` is a
// Status, and ok where it has done its task.
struct HostReport {
  uint64_t records = 0;           // of its input
  uint64_t pairs = 0, bytes = 0;  // of the map: MAP_OUTPUT_RECORDS and MAP_OUTPUT_BYTES
  uint64_t keys = 0;              // lines that it printed
  bool partial = false;           // a key may be there more than once
  uint64_t longest = 0;           // bytes of the longest line that the map printed, its end left out
  uint64_t text = 0;              // of a map that does not fold, which says only this and `records`: bytes that it printed
  uint32_t left = 0;              // Status of steps/abi.h
  std::string totals;             // what records gathered, as the epilogue reads it: behind the line `totals`, its bytes
  uint64_t record = 0;            // from 0 in the split, and source line, where it gave up
  uint32_t line = 0;
};

// Throws Error kHostLeft where it is not a whole report of a run that was done (or, with `gave_up`, was not). folds: it
// does a combiner's or reducer's work.
HostReport read_report(std::string_view text, bool gave_up, bool folds);

// Throws Error kHostLeft: the report is not as it has to be.
[[noreturn]] void malformed_report(const std::string &what);

// A descriptor that a call of the system gave, which is needed; throws Error kSpawnFailed.
Fd needed_fd(int fd, const char *what);

// The report of one run, a file without a name.
class ReportFile {
 public:
  ReportFile();
  int fd() const { return file_.get(); }
  // What it says of a run that ended so. Throws Error kHostLeft where that did not do its task; `place` says where it gave up.
  HostReport judge(const FilterEnd &end, const std::function<std::string(const HostReport &)> &place, bool folds = true) const;

 private:
  Fd file_;
};

// Runs a host kernel's task. An error that says nothing of the task, but of the host kernel only, becomes kHostLeft or kHostSilent.
void leaving_what_fails(const std::function<void()> &run);

}  // namespace hd
