#include "collect/spill.h"

#include <unistd.h>

#include "base/printable.h"
#include "ifile/segment_merger.h"
#include "collect/sorted_load.h"
#include "ifile/text_lines.h"

namespace hd {
namespace {

[[noreturn]] void fail_twice(std::string_view key) {
  throw Error(kCombinerDisorder, "the key " + printable(key) + " was printed twice");
}

template <class Cursor>
void write_once(Cursor cursor, IFileWriter &out) {
  std::string_view key, value;
  std::string previous;
  bool any = false;
  for (uint64_t count; cursor.next(key, value, count); any = true) {
    if (count > 1 || (any && key == previous)) fail_twice(key);
    previous.assign(key);
    out.append(key, value);
  }
}

// Writes one partition from a cursor over its pairs, in order.
template <class Cursor>
void write_partition(const SpillContext &context, uint32_t partition, Cursor cursor, Combiner *combiner, IFileWriter &out) {
  if (combiner && context.keeper) {
    const GivingCursor<Cursor> given{std::move(cursor), context.keeper};
    TextSource source(given, context.counters.value[kCombineInputRecords], context.cancel, context.separator);
    return combiner->run(partition, source, out);
  }
  if (combiner) {
    TextSource source(std::move(cursor), context.counters.value[kCombineInputRecords], context.cancel, context.separator);
    return combiner->run(partition, source, out);
  }
  if (context.once) return write_once(std::move(cursor), out);
  std::string_view key, value;
  for (uint64_t count; cursor.next(key, value, count);) out.append(key, value, count);
}

struct OpenSpill {
  std::shared_ptr<const InputFile> file;
  std::vector<IndexEntry> index;

  explicit OpenSpill(const SpillFile &spill)
      : file(std::make_shared<InputFile>(spill.path())), index(read_index(spill.index_path())) {}
};

// Lets a SegmentMerger be a cursor by value.
struct MergeCursor {
  SegmentMerger *merger;
  bool next(std::string_view &key, std::string_view &value, uint64_t &count) { return merger->next(key, value, count); }
};

}  // namespace

SpillFile::~SpillFile() {
  ::unlink(path_.c_str());
  ::unlink(index_path().c_str());
}

void write_load(const SpillContext &context, GroupTable &table, Combiner *combiner, IFileWriter &out) {
  const SortedLoad load(table, context.partitions, context.keeper != nullptr);
  for (uint32_t p = 0; p < context.partitions; ++p) {
    if (!load.empty(p)) write_partition(context, p, load.runs(p), combiner, out);
    out.end_partition();
  }
  context.counters.add(kSpilledRecords, out.records());
}

void merge_spills(const SpillContext &context, const Spills &spills, size_t first, size_t n, const FanIn &limits,
                  Combiner *combiner, bool combined, IFileWriter &out) {
  std::vector<OpenSpill> open;
  for (size_t i = 0; i < n; ++i) open.emplace_back(*spills[first + i]);
  std::vector<SegmentReader> readers(n);
  SegmentMerger merger;
  for (uint32_t p = 0; p < context.partitions; ++p) {
    size_t segments = 0;
    for (const OpenSpill &spill : open) {
      const IndexEntry &e = spill.index.at(p);
      if (e.raw_length == 2) continue;
      readers[segments++].open(spill.file, {"", e.start, e.raw_length, e.part_length}, limits.buffer(n), context.cancel);
    }
    merger.start(readers.data(), segments);
    const bool done = combined && segments == 1;
    if (segments) write_partition(context, p, MergeCursor{&merger}, done ? nullptr : combiner, out);
    out.end_partition();
  }
  context.counters.add(kSpilledRecords, out.records());
}

}  // namespace hd
