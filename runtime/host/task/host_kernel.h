// What a host kernel says of its run: a program that does what a task's map filter and combiner do together
// (docs/decisions/0021-host-kernels-are-programs.md).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace hd {

// Its exit status where it gives the task up, for the reason in its report.
constexpr int kHostGaveUp = 90;

// Its exit status where it reads its file by itself and finds that it cannot: a \r, a very long record.
constexpr int kHostWantsPipe = 92;

// Lines `name value` on its descriptor 3, each name once. `left` is a Status, and ok where it has done its task.
struct HostReport {
  uint64_t records = 0;           // of its input
  uint64_t pairs = 0, bytes = 0;  // of the map: MAP_OUTPUT_RECORDS and MAP_OUTPUT_BYTES
  uint64_t keys = 0;              // lines that it printed
  bool partial = false;           // a key may be there more than once
  uint64_t longest = 0;           // bytes of the longest line that the map printed, its end left out
  uint32_t left = 0;              // Status of steps/abi.h
  uint64_t record = 0;            // from 0 in the split, and source line, where it gave up
  uint32_t line = 0;
};

// Throws Error kHostLeft where it is not a whole report of a run that was done (or, with `gave_up`, was not).
HostReport read_report(std::string_view text, bool gave_up);

}  // namespace hd
