// The code behind a map's region, as a program of its own (compiler/emit/epilogue.py): once, behind the task's records.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "task/task.h"

namespace hd {

// Runs it with the totals on its stdin. `pair` gets what it prints, the counters of the map count it, and its stderr follows
// that of the records. Throws Error kRunOnCpu where it does not end as a filter that is done should, and what `pair` throws.
void run_epilogue(const hd_command &command, std::string_view totals, uint64_t line_max, TaskRun &task,
                  const std::function<void(std::string_view key, std::string_view value)> &pair);

}  // namespace hd
