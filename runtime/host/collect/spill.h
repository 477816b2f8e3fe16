// A map task's files: sorted loads written out, and spills merged into one.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collect/collector.h"
#include "collect/combine.h"
#include "ifile/fan_in.h"
#include "collect/group_table.h"
#include "ifile/ifile.h"

namespace hd {

// Bytes of the output buffer, out of the task's memory.
inline size_t output_buffer(uint64_t sort_bytes) { return size_t(std::clamp<uint64_t>(sort_bytes / 16, 16 << 10, 1 << 20)); }

// What every writing step needs.
struct SpillContext {
  uint32_t partitions;
  size_t buffer_bytes;
  Counters &counters;
  const Cancel &cancel;
  bool once;  // a key that is there twice is an error, where pairs do not go through a combiner
  const PairKeeper *keeper = nullptr;       // pairs are kept in its form
  std::string_view separator = "\t";        // between key and value of what the combiner reads
};

// A spill and its index; both files are removed with it.
class SpillFile {
 public:
  explicit SpillFile(std::string path) : path_(std::move(path)) {}
  ~SpillFile();
  SpillFile(const SpillFile &) = delete;
  SpillFile &operator=(const SpillFile &) = delete;
  const std::string &path() const { return path_; }
  std::string index_path() const { return path_ + ".index"; }

 private:
  std::string path_;
};

using Spills = std::vector<std::unique_ptr<SpillFile>>;

// Sorts the table and writes all partitions; each non-empty one through the combiner, if one is given.
void write_load(const SpillContext &context, GroupTable &table, Combiner *combiner, IFileWriter &out);

// Merges `n` spills from `first` on, oldest first, partition by partition. With `combined` spills a partition that
// only one of them holds has been through the combiner already.
void merge_spills(const SpillContext &context, const Spills &spills, size_t first, size_t n, const FanIn &limits,
                  Combiner *combiner, bool combined, IFileWriter &out);

}  // namespace hd
