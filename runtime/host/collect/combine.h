// Runs the user's combiner over one partition and checks what it gives back.
#pragma once
#include <cstdint>

#include "collect/collector.h"
#include "ifile/ifile.h"

namespace hd {

class Combiner {
 public:
  // Both references must outlive it.
  Combiner(const CollectorOptions &options, Counters &counters) : options_(options), counters_(counters) {}
  explicit operator bool() const { return bool(options_.combine); }
  // Feeds `in` to the combiner, its pairs to the current partition of `out`. They must stay in key order and in the
  // partition, else whoever reads the segment gets silently wrong groups: throws Error kCombinerDisorder.
  void run(uint32_t partition, Source &in, IFileWriter &out);

 private:
  const CollectorOptions &options_;
  Counters &counters_;
};

}  // namespace hd
