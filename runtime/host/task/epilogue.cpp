#include "task/epilogue.h"

#include <utility>

#include "filter/pair_splitter.h"

namespace hd {
namespace {

constexpr int kCannotTell = 124;  // exit status of runtime/cpu/totals.c

}  // namespace

void run_epilogue(const hd_command &command, std::string_view totals, Sink &out, TaskRun &task, TaskStatus refused) {
  const Command program = command_of(command, task);
  TextInput input(totals);
  const auto refuse = [&](const std::string &why) {
    throw Error(refused, "the code behind the region could not be run alone: " + why);
  };
  FilterEnd end;
  try {
    end = run_filter(program, input, out, task.log, task.cancel);
  } catch (const Error &e) {
    if (e.status == kTimedOut && refused == kHostLeft) throw;  // no other task waits for it
    if (e.status == kCancelled || e.status == kIoError || e.status == kCombinerFailed || e.status == kRetryNoFold) throw;
    refuse(e.what());
  }
  book_times(task, end.times, task.seconds[HD_STAGE_COMBINE]);
  if (end.signal == 0 && end.exit_code == kCannotTell)
    refuse("a least or greatest number is a zero whose sign the order of the records says (exit status 124)");
  if (!end.ok()) refuse(describe(end));
}

void run_epilogue(const hd_command &command, std::string_view totals, uint64_t line_max, TaskRun &task,
                  const std::function<void(std::string_view key, std::string_view value)> &pair) {
  PairSplitter lines(pair, LineLimit{line_max, "map filter"}, task.counters, kMapOutputRecords, kMapOutputBytes);
  run_epilogue(command, totals, lines, task, kRunOnCpu);
  lines.finish();
}

}  // namespace hd
