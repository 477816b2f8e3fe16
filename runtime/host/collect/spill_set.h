// The spills of one map task, in order, and their merge into its output.
#pragma once
#include <cstdint>
#include <string>

#include "collect/spill.h"

namespace hd {

class SpillSet {
 public:
  // The references must outlive it. Spills go to options.work_dir.
  SpillSet(const CollectorOptions &options, const SpillContext &context) : options_(options), context_(context) {}
  bool empty() const { return spills_.empty(); }
  std::string next_path() { return options_.work_dir + "/spill" + std::to_string(made_++) + ".out"; }
  // `out`, written to `path`, becomes the last spill.
  void commit(IFileWriter &out, const std::string &path) { commit(out, path, spills_.end()); }
  // What was written to `path`, complete, with its index beside it, becomes the last spill.
  void adopt(const std::string &path) { spills_.push_back(std::make_unique<SpillFile>(path)); }
  // Merges all of them into `out`, through the combiner if one is given; `combined`: each has been through it. Removes
  // them.
  void merge(Combiner *combiner, bool combined, IFileWriter &out);

 private:
  void commit(IFileWriter &out, const std::string &path, Spills::iterator at);
  FanIn merge_limits() const;
  void merge_earliest(const FanIn &limits);

  const CollectorOptions &options_;
  const SpillContext &context_;
  Spills spills_;
  uint64_t made_ = 0;
};

}  // namespace hd
