// A reduce task as a host kernel: a program that reads the partition's segments itself and prints what the reduce filter prints
// (runtime/hostlane/reduce/main.h, docs/decisions/0024-reducers-meet-in-tables.md).
#pragma once
#include "task/task.h"

namespace hd {

// Throws Error kHostLeft, kHostSilent where the filter has to do the task.
void run_host_reduce(const hd_reduce_spec &spec, TaskRun &task);

}  // namespace hd
