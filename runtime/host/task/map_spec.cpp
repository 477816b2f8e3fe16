#include "task/map_spec.h"

#include <algorithm>

namespace hd {

std::string text_of(const char *s) { return s ? s : ""; }

RecordOptions records_of(const hd_map_spec &spec) {
  RecordOptions options;
  options.path = text_of(spec.input_path);
  options.fd = spec.input_fd;
  options.start = spec.start;
  options.length = spec.length;
  options.longest = spec.line_max;
  options.skip_from = spec.skip_from;
  if (spec.delimiter_len) options.delimiter.assign(spec.delimiter, spec.delimiter_len);
  return options;
}

CollectorOptions collector_of(const hd_map_spec &spec, TaskRun &task) {
  CollectorOptions options;
  options.partitions = spec.reducers;
  options.sort_bytes = spec.sort_bytes;
  options.work_dir = text_of(spec.work_dir);
  options.out_path = text_of(spec.out_path);
  options.index_path = text_of(spec.index_path);
  options.regroup = spec.flags & HD_REGROUP;
  options.line_max = spec.line_max;
  options.check.key = static_cast<PairCheck::Key>(spec.check.key_kind);
  options.check.values = std::min<uint32_t>(spec.check.n_values, HD_MOST_VALUES);
  for (uint32_t i = 0; i < options.check.values; ++i) {
    options.check.value[i] = static_cast<PairCheck::Value>(spec.check.value_kinds[i]);
    options.check.between_size[i] = std::min<uint8_t>(spec.check.between_sizes[i], HD_MOST_BETWEEN);
    std::copy_n(spec.check.between[i], HD_MOST_BETWEEN, options.check.between[i]);
  }
  options.check.key_max = spec.check.key_max;
  options.check.none = spec.check.none;
  options.check.has_none = spec.check.has_none != 0;
  task.combined.from = spec.combine_watch_from;
  if (const Command combine = command_of(spec.combine, task))
    options.combine = [combine, &task](Source &in, Sink &out) { return run_combiner(combine, in, out, task); };
  return options;
}

}  // namespace hd
