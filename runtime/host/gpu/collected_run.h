// Pairs that a program of a task on a device prints become a run behind those of the device so far.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "collect/collector.h"
#include "gpu/runs.h"

namespace hd {

class CollectedRun {
 public:
  // `combined`: it is to be, because the other runs are, too.
  CollectedRun(const CollectorOptions &options, bool combined, TaskRun &task);
  ~CollectedRun();
  void add(std::string_view key, std::string_view value);
  // It becomes the last run, unless it is empty. Throws Error kRetryNoFold: a pair does not read back, and the others are
  // combined already.
  void finish(RunWriter &runs);

 private:
  CollectorOptions options_;
  const bool combined_;
  TaskRun &task_;
  Counters counters_;  // its own: what it writes is no output of the task yet
  std::optional<Collector> collector_;
};

}  // namespace hd
