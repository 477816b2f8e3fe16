#include "gpu_runs.h"

#include "text_lines.h"

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
      context_{options.partitions, output_buffer(options.sort_bytes), task.counters, task.cancel},
      combiner_(options_, task.counters), spills_(options_, context_) {}

void RunWriter::write_partitions(const HostPairs &run, Combiner *combiner, IFileWriter &out) {
  HostPairCursor pairs(run);
  for (uint32_t p = 0; p < options_.partitions; ++p) {
    PartitionCursor cursor{&pairs, p};
    const bool combine = combiner && !pairs.ended() && pairs.partition() == p;
    if (combine) {
      TextSource source(cursor, task_.counters.value[kCombineInputRecords], task_.cancel);
      combiner->run(p, source, out);
    }
    std::string_view key, value;
    for (uint64_t count; cursor.next(key, value, count);)  // nothing, or what a combiner that was let fail has not read
      if (!combine) out.append(key, value);
    out.end_partition();
  }
  task_.counters.add(kSpilledRecords, out.records());
}

void RunWriter::spill(const HostPairs &run, bool combined) {
  const std::string path = spills_.next_path();
  IFileWriter out(path, context_.buffer_bytes, task_.cancel);
  write_partitions(run, nullptr, out);
  spills_.commit(out, path);
  task_.counters.add(kSpills);
  combined_ = combined_ || combined;
}

void RunWriter::write(const HostPairs &run, bool combined) {
  IFileWriter out(options_.out_path, context_.buffer_bytes, task_.cancel);
  write_partitions(run, combiner_ && !combined ? &combiner_ : nullptr, out);
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

void check_order(const HostPairs &pairs) {
  HostPairCursor cursor(pairs);
  std::string_view key, value, previous;
  uint32_t partition = 0;
  for (bool any = false; !cursor.ended(); any = true, previous = key) {
    const uint32_t next = cursor.partition();
    cursor.next(key, value);
    if (any && (next < partition || (next == partition && key < previous)))
      throw Error(kRunOnCpu, "the combine kernel's output key " + printable(key) +
                                 " is out of order; the key before it was " + printable(previous));
    partition = next;
  }
}

}  // namespace hd
