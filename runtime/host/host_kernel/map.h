// A map task as a host kernel: a program that does what the map filter does, or map filter and combiner together
// (docs/decisions/0021-host-kernels-are-programs.md).
#pragma once
#include "host_kernel/report.h"
#include "task/task.h"

namespace hd {

// Its exit status where it reads its file by itself and finds that it cannot: a \r, a very long record.
constexpr int kHostWantsPipe = 92;

// Throws Error kHostLeft, kHostSilent where filters have to do the task.
void run_host_map(const hd_map_spec &spec, TaskRun &task);
// The spec's host kernel over `text`, so many records with a \n behind each, as a part of a task that something else does: what
// the map prints goes to `lines`, and nothing is counted. It does not fold. Throws Error kHostLeft, kHostSilent, and as filters.
void run_host_records(const hd_map_spec &spec, TaskRun &task, std::string_view text, uint64_t records, Sink &lines);

}  // namespace hd
