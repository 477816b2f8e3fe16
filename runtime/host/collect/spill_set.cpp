#include "collect/spill_set.h"

namespace hd {

void SpillSet::commit(IFileWriter &out, const std::string &path, Spills::iterator at) {
  auto file = std::make_unique<SpillFile>(path);  // first: removes what a failing commit leaves
  out.commit(file->index_path());
  spills_.insert(at, std::move(file));
}

void SpillSet::merge(Combiner *combiner, bool combined, IFileWriter &out) {
  const FanIn limits = merge_limits();
  const bool remerged = spills_.size() > limits.most;  // some have become longer ones, not combined again
  while (spills_.size() > limits.most) merge_earliest(limits);
  merge_spills(context_, spills_, 0, spills_.size(), limits, combiner, combined && !remerged, out);
  spills_.clear();
}

// The spills' indexes are in memory during a merge, so they count.
FanIn SpillSet::merge_limits() const {
  const uint64_t index_bytes = sizeof(IndexEntry) * uint64_t(options_.partitions);
  FanIn limits = fan_in(options_.sort_bytes);
  while (limits.most > 2 && limits.most * (index_bytes + (16 << 10)) > options_.sort_bytes) --limits.most;
  const uint64_t indexes = limits.most * index_bytes + context_.buffer_bytes;
  limits.memory = options_.sort_bytes > indexes ? options_.sort_bytes - indexes : 0;
  return limits;
}

// One pass of intermediate merges over consecutive spills, not combined: the last merge does that.
void SpillSet::merge_earliest(const FanIn &limits) {
  const size_t runs = runs_needed(spills_.size(), limits.most);
  for (size_t r = 0; r < runs; ++r) {
    const std::string path = next_path();
    IFileWriter out(path, context_.buffer_bytes, context_.cancel);
    merge_spills(context_, spills_, r, limits.most, limits, nullptr, false, out);
    const auto first = spills_.begin() + ptrdiff_t(r);
    commit(out, path, spills_.erase(first, first + ptrdiff_t(limits.most)));
  }
}

}  // namespace hd
