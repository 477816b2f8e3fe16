// The sorted runs of a task on a device become its output file: one run directly, several through spills and a merge.
#pragma once
#include <cstdint>

#include "combine.h"
#include "gpu_gather.h"
#include "spill_set.h"
#include "task.h"

namespace hd {

class RunWriter {
 public:
  RunWriter(const CollectorOptions &options, TaskRun &task);
  // A run of several. `combined`: by the device, as then all runs are.
  void spill(const HostPairs &run, bool combined);
  // The only run. Without `combined` its partitions go through the CPU's combiner, if there is one.
  void write(const HostPairs &run, bool combined);
  // After the last spill: merges them. The combiner, if there is one, runs over the merged partitions.
  void merge();
  bool any() const { return !spills_.empty(); }
  bool combined() const { return combined_; }  // some run has been

 private:
  void write_partitions(const HostPairs &run, Combiner *combiner, IFileWriter &out);
  void commit(IFileWriter &out);

  const CollectorOptions options_;
  TaskRun &task_;
  const SpillContext context_;
  Combiner combiner_;
  SpillSet spills_;
  bool combined_ = false;
};

// Throws Error kRunOnCpu where pairs are out of order: what a combine kernel gives back is not taken on trust.
void check_order(const HostPairs &pairs);

}  // namespace hd
