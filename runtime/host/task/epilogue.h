// The code behind a map's region, as a program of its own (compiler/emit/epilogue.py): once, behind the task's records.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "task/task.h"

namespace hd {

// Runs it with the totals on its stdin. `out` gets what it prints, and is not finished; its stderr follows that of the records.
// Throws Error `refused` where it does not end as a filter that is done should, and what `out` throws.
void run_epilogue(const hd_command &command, std::string_view totals, Sink &out, TaskRun &task, TaskStatus refused);

// The same behind a device: `pair` gets what it prints, and the counters of the map count it; refused: kRunOnCpu.
void run_epilogue(const hd_command &command, std::string_view totals, uint64_t line_max, TaskRun &task,
                  const std::function<void(std::string_view key, std::string_view value)> &pair);

}  // namespace hd
