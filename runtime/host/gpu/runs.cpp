#include "gpu/runs.h"

#include "ifile/text_lines.h"

namespace hd {
namespace {

// The pairs of one partition, as TextSource takes them.
struct PartitionCursor {
  HostPairCursor *pairs;
  uint32_t partition;

  bool next(std::string_view &key, std::string_view &value, uint64_t &count) {
    count = !pairs->ended() && pairs->partition() == partition;
    if (count) pairs->next(key, value);
    return count;
  }
};

}  // namespace

RunWriter::RunWriter(const CollectorOptions &options, TaskRun &task)
    : options_(options), task_(task),
      context_{options.partitions, output_buffer(options.sort_bytes), task.counters, task.cancel, false},
      combiner_(options_, task.counters), spills_(options_, context_) {}

void RunWriter::write_partitions(const HostRun &run, IFileWriter &out) {
  for (uint32_t p = 0; p < options_.partitions; ++p) {
    out.append_serialized(run.bytes + run.start[p], run.start[p + 1] - run.start[p], run.first[p + 1] - run.first[p]);
    out.end_partition();
  }
  task_.counters.add(kSpilledRecords, out.records());
}

void RunWriter::spill(const HostRun &run, bool combined) {
  const std::string path = spills_.next_path();
  IFileWriter out(path, context_.buffer_bytes, task_.cancel);
  write_partitions(run, out);
  spills_.commit(out, path);
  task_.counters.add(kSpills);
  combined_ = combined_ || combined;
}

void RunWriter::write(const HostRun &run) {
  IFileWriter out(options_.out_path, context_.buffer_bytes, task_.cancel);
  write_partitions(run, out);
  commit(out);
}

void RunWriter::combine(const HostPairs &run) {
  IFileWriter out(options_.out_path, context_.buffer_bytes, task_.cancel);
  HostPairCursor pairs(run);
  for (uint32_t p = 0; p < options_.partitions; ++p) {
    PartitionCursor cursor{&pairs, p};
    if (!pairs.ended() && pairs.partition() == p) {
      TextSource source(cursor, task_.counters.value[kCombineInputRecords], task_.cancel);
      combiner_.run(p, source, out);
    }
    std::string_view key, value;
    for (uint64_t count; cursor.next(key, value, count);) continue;  // what a combiner that was let fail has not read
    out.end_partition();
  }
  task_.counters.add(kSpilledRecords, out.records());
  commit(out);
}

void RunWriter::merge() {
  IFileWriter out(options_.out_path, context_.buffer_bytes, task_.cancel);
  spills_.merge(combiner_ ? &combiner_ : nullptr, combined_, out);
  commit(out);
}

void RunWriter::commit(IFileWriter &out) {
  out.commit(options_.index_path);
  task_.counters.add(kMapOutputMaterializedBytes, out.bytes());
}

}  // namespace hd
