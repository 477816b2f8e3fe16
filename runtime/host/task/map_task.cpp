// A CPU map task: a split's records through the map filter into the collector, or into a text file without reducers.
#include "base/text_output.h"
#include "filter/pair_splitter.h"
#include "task/map_spec.h"
#include "task/split_input.h"
#include "task/task.h"

namespace hd {

namespace {

// The filter with the split on its stdin. `sink` gets its output, but nothing if the split holds no record.
void run_map_filter(const hd_map_spec &spec, TaskRun &task, Sink &sink) {
  const Command map = command_of(spec.map, task);
  if (!map) throw Error(kBadInput, "a map task needs a map command");
  SplitInput input(spec, task);
  ObservedSink output(sink, [&](size_t n) {
    task.progress.bytes_out = task.progress.bytes_out + n;
    task.progress.pairs_out = task.counters.value[kMapOutputRecords];
  });
  NullSink nothing;
  const bool empty = input.empty();
  run_main_filter("map filter", map, input.source(), empty ? static_cast<Sink &>(nothing) : output, task,
                  Watch{spec.watch_from, "its split"});
  input.count();
  if (!empty) sink.finish();
}

}  // namespace

void collect_map(const hd_map_spec &spec, TaskRun &task, const std::function<void(Sink &)> &map) {
  const LineLimit limit{spec.line_max, "map filter"};
  if (spec.reducers == 0) {
    TextOutput text(text_of(spec.out_path));
    PairSplitter sink([&](std::string_view key, std::string_view value) { text.add(key, value); }, limit, task.counters,
                      kMapOutputRecords, kMapOutputBytes);
    map(sink);
    return finish_task(task, [&] { text.commit(); });
  }
  Collector collector(collector_of(spec, task), task.counters, task.cancel);
  PairSplitter sink([&](std::string_view key, std::string_view value) { collector.add(key, value); }, limit, task.counters,
                    kMapOutputRecords, kMapOutputBytes);
  map(sink);
  finish_task(task, [&] { collector.finish(); });
}

void run_map_task(const hd_map_spec &spec, TaskRun &task) {
  collect_map(spec, task, [&](Sink &sink) { run_map_filter(spec, task, sink); });
}

}  // namespace hd
