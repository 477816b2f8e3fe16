#include "task/task.h"

#include "base/clock.h"
#include "task/watched_source.h"

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

// An error of a filter that read from `source`, with the record where it was given alone.
Error placed(const Error &error, uint64_t before, const WatchedSource &source) {
  const uint64_t read = before + error.input_read, record = source.record(read);
  Error named(error.status, record ? error.what() + (" on " + source.described(read)) : error.what());
  named.exit_code = error.exit_code;
  named.signal = error.signal;
  named.input_read = read;
  named.record = record;
  return named;
}

// Calls `run` with what is to be read instead of `in`, and goes on with `watch` behind it.
void watched(Watch &watch, Source &in, const std::function<void(Source &)> &run) {
  WatchedSource source(in, watch);
  try {
    run(source);
  } catch (const Error &e) {
    if (e.status != kFilterFailed && e.status != kCombinerFailed) throw;
    throw placed(e, watch.given, source);
  }
  watch = source.watch();
}

}  // namespace

Command command_of(const hd_command &command, const TaskRun &task) {
  Command copy;
  for (const char *const *a = command.argv; a && *a; ++a) copy.argv.emplace_back(*a);
  for (const char *const *e = command.env; e && *e; ++e) copy.env.emplace_back(*e);
  if (command.cwd) copy.cwd = command.cwd;
  if (task.linger_ms) copy.linger_ms = task.linger_ms;
  copy.timeout_ms = task.timeout_ms;
  copy.memory = command.memory;
  return copy;
}

void run_main_filter(const char *role, const Command &command, Source &in, Sink &out, TaskRun &task, Watch watch) {
  if (watch.from != UINT64_MAX)
    return watched(watch, in, [&](Source &source) { run_main_filter(role, command, source, out, task); });
  task.phase(HD_PHASE_FILTER);
  const double combined = task.seconds[HD_STAGE_COMBINE];
  const FilterEnd end = run_filter(command, in, out, task.log, task.cancel);
  book_times(task, end.times, combined);
  judge(kFilterFailed, role, command, end, task);
}

void book_times(TaskRun &task, const FilterTimes &times, double combined) {
  task.seconds[HD_STAGE_READ] += times.read;
  task.seconds[HD_STAGE_FEED] += times.feed;
  task.seconds[HD_STAGE_WAIT] += times.wait;
  task.seconds[HD_STAGE_COLLECT] += times.sink - (task.seconds[HD_STAGE_COMBINE] - combined);
  task.seconds[HD_STAGE_FILTER_CPU] += times.cpu;
}

uint64_t run_combiner(const Command &command, Source &in, Sink &out, TaskRun &task) {
  const int32_t before = task.progress.phase;
  task.phase(HD_PHASE_COMBINE);
  const double begin = now();
  uint64_t unread = 0;
  watched(task.combined, in, [&](Source &source) {
    const FilterEnd end = run_filter(command, source, out, task.log, task.cancel);
    task.seconds[HD_STAGE_COMBINE] += now() - begin;
    task.seconds[HD_STAGE_COMBINE_CPU] += end.times.cpu;
    judge(kCombinerFailed, "combiner", command, end, task);
    unread = end.unread;
  });
  task.phase(static_cast<hd_phase>(before));
  return unread;
}

void finish_task(TaskRun &task, const std::function<void()> &step) {
  task.phase(HD_PHASE_FINISH);
  const double begin = now(), combined = task.seconds[HD_STAGE_COMBINE];
  step();
  task.seconds[HD_STAGE_FINISH] += now() - begin - (task.seconds[HD_STAGE_COMBINE] - combined);
}

}  // namespace hd
