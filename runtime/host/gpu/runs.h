// The sorted runs of a task on a device become its output file: one run directly, several through spills and a merge.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "collect/combine.h"
#include "output/run_file.h"
#include "steps/gather.h"
#include "steps/run.h"
#include "collect/spill_set.h"
#include "task/task.h"

namespace hd {

class RunWriter {
 public:
  RunWriter(const CollectorOptions &options, TaskRun &task, OutputRoom &room);
  // A run of several, on its way when this returns. `combined`: by the device, as then all runs are.
  void spill(const DeviceRun &run, bool combined);
  // A run that something else wrote, with its index, to the path that `next` gave last.
  std::string next();
  void adopt(const std::string &path, bool combined) {
    spills_.adopt(path);
    combined_ = combined_ || combined;
  }
  // The only run, which needs no combiner any more.
  void write(const DeviceRun &run);
  // The only run, through the CPU's combiner.
  void combine(const HostPairs &run);
  // After the last spill: merges them. The combiner, if there is one, runs over the merged partitions.
  void merge();
  bool any() const { return !spills_.empty() || pending_; }
  bool combined() const { return combined_; }  // some run has been

 private:
  // A spill that may not be in its file yet.
  struct Pending {
    std::string path;
    RunFile file;
  };

  void settle();
  void commit(IFileWriter &out);

  const CollectorOptions options_;
  TaskRun &task_;
  OutputRoom &room_;
  const SpillContext context_;
  Combiner combiner_;
  SpillSet spills_;
  std::unique_ptr<Pending> pending_;
  bool combined_ = false;
};

}  // namespace hd
