// A CPU map task: a split's records through the map filter into the collector, or into a text file without reducers.
#include "base/text_output.h"
#include "filter/pair_splitter.h"
#include "task/map_spec.h"
#include "task/pair_form_of.h"
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
  const PairForm form = pair_form_of(spec.form);
  if (spec.reducers == 0) {
    TextOutput text(text_of(spec.out_path), form.out);
    PairSplitter sink([&](std::string_view key, std::string_view value) { text.add(key, value); }, limit, task.counters,
                      kMapOutputRecords, kMapOutputBytes, form.map_out);
    map(sink);
    return finish_task(task, [&] { text.commit(); });
  }
  CollectorOptions options = collector_of(spec, task);
  options.stays = spec.form != nullptr;
  options.combine_in = form.reduce_in;
  options.combine_out = form.reduce_out;
  if (form.keeps()) options.keeper = std::make_shared<PairKeeper>(form, spec.reducers);
  PairKeeper *const keeper = options.keeper.get();
  Collector collector(options, task.counters, task.cancel);
  const auto collect = [&](auto add) {
    PairSplitter sink(add, limit, task.counters, kMapOutputRecords, kMapOutputBytes, form.map_out);
    map(sink);
    finish_task(task, [&] { collector.finish(); });
  };
  if (!keeper) return collect([&](std::string_view key, std::string_view value) { collector.add(key, value); });
  collect([&](std::string_view key, std::string_view value) {
    const TextPair pair = keeper->keep(key, value, keeper->partition(key));
    collector.add(pair.key, pair.value);
  });
}

void run_map_task(const hd_map_spec &spec, TaskRun &task) {
  collect_map(spec, task, [&](Sink &sink) { run_map_filter(spec, task, sink); });
}

}  // namespace hd
