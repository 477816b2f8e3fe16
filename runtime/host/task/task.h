// What map and reduce tasks share, by filters or as host kernels: one task attempt while it runs.
#pragma once
#include <functional>
#include <string_view>
#include <utility>

#include "task/api.h"
#include "base/common.h"
#include "filter/process.h"
#include "filter/stderr_log.h"

namespace hd {

struct TaskRun {
  StderrLog log;
  Cancel cancel;
  hd_progress &progress;
  uint32_t linger_ms, timeout_ms, flags;
  Counters counters;
  double seconds[HD_N_STAGES] = {};
  Watch combined;  // what the combiner reads, in all its runs

  void phase(hd_phase p) { progress.phase = p; }
};

// The bodies of the calls in api.h, by filters; throw Error.
void run_map_task(const hd_map_spec &spec, TaskRun &task);
// Takes the map's lines from `map` into the collector, or without reducers into a text file.
void collect_map(const hd_map_spec &spec, TaskRun &task, const std::function<void(Sink &)> &map);
void run_reduce_task(const hd_reduce_spec &spec, TaskRun &task);
void run_prologue(const hd_prologue_spec &spec, TaskRun &task);

Command command_of(const hd_command &command, const TaskRun &task);

// Runs the map or reduce filter and books its times; throws Error kFilterFailed where its end is a failure. Where it failed on
// a record that it was given alone, the error says which.
void run_main_filter(const char *role, const Command &command, Source &in, Sink &out, TaskRun &task, Watch watch = {});
// Books the times of a run whose sink was called since `combined` seconds of combiner runs.
void book_times(TaskRun &task, const FilterTimes &times, double combined);
// Runs the combiner once, on what follows what it has read; throws Error kCombinerFailed, as above. Returns the bytes it left
// unread.
uint64_t run_combiner(const Command &command, Source &in, Sink &out, TaskRun &task);

// Runs the last step of a task and books it as FINISH, combiner runs apart.
void finish_task(TaskRun &task, const std::function<void()> &step);

// Text that is in memory.
struct TextInput : Source {
  explicit TextInput(std::string_view text) : left(text) {}
  std::string_view next() override { return std::exchange(left, {}); }
  std::string_view left;
};

// Output of a task without input: Hadoop Streaming reads it and throws it away.
struct NullSink : Sink {
  void write(const char *, size_t) override {}
  void finish() override {}
};

// Pass data through unchanged and call `after` behind each piece, to keep the progress up to date.
class ObservedSource : public Source {
 public:
  ObservedSource(Source &source, std::function<void(size_t)> after) : source_(source), after_(std::move(after)) {}
  std::string_view next() override {
    const std::string_view piece = source_.next();
    after_(piece.size());
    return piece;
  }
  FileBytes origin() const override { return source_.origin(); }

 private:
  Source &source_;
  std::function<void(size_t)> after_;
};

class ObservedSink : public Sink {
 public:
  ObservedSink(Sink &sink, std::function<void(size_t)> after) : sink_(sink), after_(std::move(after)) {}
  void write(const char *data, size_t n) override {
    sink_.write(data, n);
    after_(n);
  }
  void finish() override { sink_.finish(); }

 private:
  Sink &sink_;
  std::function<void(size_t)> after_;
};

}  // namespace hd
