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

RunWriter::RunWriter(const CollectorOptions &options, TaskRun &task, OutputRoom &room)
    : options_(options), task_(task), room_(room),
      context_{options.partitions, output_buffer(options.sort_bytes), task.counters, task.cancel, false},
      combiner_(options_, task.counters), spills_(options_, context_) {}

void RunWriter::spill(const DeviceRun &run, bool combined) {
  settle();
  const std::string path = spills_.next_path();
  pending_.reset(new Pending{path, {path, run.bytes, run.start, room_, task_.cancel}});
  task_.counters.add(kSpilledRecords, run.count());
  task_.counters.add(kSpills);
  combined_ = combined_ || combined;
}

// The last spill is in its file.
void RunWriter::settle() {
  if (!pending_) return;
  room_.finish();
  const std::unique_ptr<Pending> spill = std::move(pending_);
  spill->file.commit(spill->path + ".index");
  spills_.adopt(spill->path);
}

std::string RunWriter::next() {
  settle();
  return spills_.next_path();
}

void RunWriter::write(const DeviceRun &run) {
  RunFile out(options_.out_path, run.bytes, run.start, room_, task_.cancel);
  room_.finish();
  out.commit(options_.index_path);
  task_.counters.add(kSpilledRecords, run.count());
  task_.counters.add(kMapOutputMaterializedBytes, out.bytes());
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
  settle();
  IFileWriter out(options_.out_path, context_.buffer_bytes, task_.cancel);
  spills_.merge(combiner_ ? &combiner_ : nullptr, combined_, out);
  commit(out);
}

void RunWriter::commit(IFileWriter &out) {
  out.commit(options_.index_path);
  task_.counters.add(kMapOutputMaterializedBytes, out.bytes());
}

}  // namespace hd
