// The sorted runs of a task on a device become its output file: one run directly, several through spills and a merge.
#pragma once
#include <cstdint>

#include "collect/combine.h"
#include "steps/gather.h"
#include "steps/run.h"
#include "collect/spill_set.h"
#include "task/task.h"

namespace hd {

class RunWriter {
 public:
  RunWriter(const CollectorOptions &options, TaskRun &task);
  // A run of several. `combined`: by the device, as then all runs are.
  void spill(const HostRun &run, bool combined);
  // A run that something else wrote, with its index, to the path that `next` gave last.
  std::string next() { return spills_.next_path(); }
  void adopt(const std::string &path) { spills_.adopt(path); }
  // The only run, which needs no combiner any more.
  void write(const HostRun &run);
  // The only run, through the CPU's combiner.
  void combine(const HostPairs &run);
  // After the last spill: merges them. The combiner, if there is one, runs over the merged partitions.
  void merge();
  bool any() const { return !spills_.empty(); }
  bool combined() const { return combined_; }  // some run has been

 private:
  void write_partitions(const HostRun &run, IFileWriter &out);
  void commit(IFileWriter &out);

  const CollectorOptions options_;
  TaskRun &task_;
  const SpillContext context_;
  Combiner combiner_;
  SpillSet spills_;
  bool combined_ = false;
};

}  // namespace hd
