// A reduce task: the segments of one partition, merged, through the reduce filter into a text file.
#include <vector>

#include "ifile/merge.h"
#include "filter/pair_splitter.h"
#include "input/records.h"
#include "task/pair_form_of.h"
#include "task/task.h"
#include "base/text_output.h"

namespace hd {

namespace {

std::vector<Segment> segments_of(const hd_reduce_spec &spec) {
  std::vector<Segment> segments;
  for (uint64_t i = 0; i < spec.n_segments; ++i) {
    const hd_segment &s = spec.segments[i];
    segments.push_back({s.data_path, s.start, s.raw_length, s.part_length});
  }
  return segments;
}

// Hadoop's IdentityReducer (a job without a reduce program but with reducers).
void copy_pairs(MergeReader &reader, PairKeeper *keeper, TextOutput &text, TaskRun &task) {
  task.phase(HD_PHASE_FILTER);
  std::string_view key, value;
  std::string previous;
  uint64_t records = 0, groups = 0, bytes = 0;
  const auto show = [&] {
    task.progress.records_in = records;
    task.progress.pairs_out = records;
    task.progress.bytes_in = bytes;
    task.progress.bytes_out = bytes;
  };
  while (next_pair(reader, keeper, key, value)) {
    text.add(key, value);
    bytes += key.size() + value.size() + 2;
    if (records++ == 0 || key != previous) {
      previous = key;
      ++groups;
    }
    if (records % 1024 == 0) {
      task.cancel.check();
      show();
    }
  }
  show();
  task.counters.add(kReduceInputRecords, records);
  task.counters.add(kReduceInputGroups, groups);
  task.counters.add(kReduceOutputRecords, records);
}

void run_reduce_filter(const hd_reduce_spec &spec, const Command &reduce, MergeReader &reader, const PairForm &form,
                       PairKeeper *keeper, TextOutput &text, TaskRun &task) {
  uint64_t *const counters = task.counters.value;
  MergeSource merged(reader, counters[kReduceInputRecords], counters[kReduceInputGroups], form.reduce_in, keeper);
  ObservedSource observed(merged, [&](size_t n) {
    task.progress.bytes_in = task.progress.bytes_in + n;
    task.progress.records_in = counters[kReduceInputRecords];
  });
  PeekSource source(observed);
  PairSplitter sink([&](std::string_view key, std::string_view value) { text.add(key, value); },
                    {spec.line_max, "reduce filter"}, task.counters, kReduceOutputRecords, kCounters, form.reduce_out);
  ObservedSink output(sink, [&](size_t n) {
    task.progress.bytes_out = task.progress.bytes_out + n;
    task.progress.pairs_out = counters[kReduceOutputRecords];
  });
  NullSink nothing;
  const bool empty = source.empty();
  run_main_filter("reduce filter", reduce, source, empty ? static_cast<Sink &>(nothing) : output, task,
                  Watch{spec.watch_from, "its partition"});
  if (!empty) sink.finish();
}

}  // namespace

void run_reduce_task(const hd_reduce_spec &spec, TaskRun &task) {
  const PairForm form = pair_form_of(spec.form);
  PairKeeper kept(form, 1);  // it gives: which partitions there are does not matter
  PairKeeper *const keeper = form.keeps() ? &kept : nullptr;
  TextOutput text(spec.out_path, form.out);
  MergeReader reader(segments_of(spec), spec.merge_bytes, spec.work_dir ? spec.work_dir : "", task.cancel);
  if (const Command reduce = command_of(spec.reduce, task))
    run_reduce_filter(spec, reduce, reader, form, keeper, text, task);
  else
    copy_pairs(reader, keeper, text, task);
  finish_task(task, [&] { text.commit(); });
}

}  // namespace hd
