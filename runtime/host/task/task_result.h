// From a task's run, or what it threw, to the hd_result of the C ABI.
#pragma once
#include <functional>

#include "task/api.h"
#include "task/task.h"

namespace hd {

void clear(hd_result &result);
// Runs `body` and puts whatever it throws into the result; returns the result's status.
int32_t guarded(hd_result &result, const std::function<void()> &body) noexcept;

// What every task's specification has.
struct TaskSetup {
  const char *log_path, *reporter_prefix;
  uint32_t linger_ms, timeout_ms, flags;
};

// Runs one task; the result gets its counters, times and text whatever the status, and is cleared before.
int32_t run_reported(const TaskSetup &setup, hd_progress *progress, hd_result &result,
                     const std::function<void(TaskRun &)> &body) noexcept;

}  // namespace hd
