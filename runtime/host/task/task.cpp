#include "task/task.h"

#include "base/clock.h"

namespace hd {

namespace {

void judge(TaskStatus failure, const char *role, const Command &command, const FilterEnd &end, const TaskRun &task) {
  if (end.ok() || (task.flags & HD_ACCEPT_EXIT_CODE)) return;
  Error error(failure, std::string(role) + " " + command.argv[0] + " failed: " + describe(end));
  error.exit_code = end.exit_code;
  error.signal = end.signal;
  error.input_read = end.read;
  throw error;
}

}  // namespace

Command command_of(const hd_command &command, const TaskRun &task) {
  Command copy;
  for (const char *const *a = command.argv; a && *a; ++a) copy.argv.emplace_back(*a);
  for (const char *const *e = command.env; e && *e; ++e) copy.env.emplace_back(*e);
  if (command.cwd) copy.cwd = command.cwd;
  if (task.linger_ms) copy.linger_ms = task.linger_ms;
  copy.timeout_ms = task.timeout_ms;
  return copy;
}

void run_main_filter(const char *role, const Command &command, Source &in, Sink &out, TaskRun &task) {
  task.phase(HD_PHASE_FILTER);
  const double combined = task.seconds[HD_STAGE_COMBINE];
  const FilterEnd end = run_filter(command, in, out, task.log, task.cancel);
  task.seconds[HD_STAGE_READ] += end.times.read;
  task.seconds[HD_STAGE_FEED] += end.times.feed;
  task.seconds[HD_STAGE_WAIT] += end.times.wait;
  task.seconds[HD_STAGE_COLLECT] += end.times.sink - (task.seconds[HD_STAGE_COMBINE] - combined);
  task.seconds[HD_STAGE_FILTER_CPU] += end.times.cpu;
  judge(kFilterFailed, role, command, end, task);
}

uint64_t run_combiner(const Command &command, Source &in, Sink &out, TaskRun &task) {
  const int32_t before = task.progress.phase;
  task.phase(HD_PHASE_COMBINE);
  const double begin = now();
  const FilterEnd end = run_filter(command, in, out, task.log, task.cancel);
  task.seconds[HD_STAGE_COMBINE] += now() - begin;
  task.seconds[HD_STAGE_COMBINE_CPU] += end.times.cpu;
  judge(kCombinerFailed, "combiner", command, end, task);
  task.phase(static_cast<hd_phase>(before));
  return end.unread;
}

void finish_task(TaskRun &task, const std::function<void()> &step) {
  task.phase(HD_PHASE_FINISH);
  const double begin = now(), combined = task.seconds[HD_STAGE_COMBINE];
  step();
  task.seconds[HD_STAGE_FINISH] += now() - begin - (task.seconds[HD_STAGE_COMBINE] - combined);
}

}  // namespace hd
