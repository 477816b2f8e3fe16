// How many segments one merge may read at once, and its buffers.
#pragma once
#include <cstddef>
#include <cstdint>

namespace hd {

struct FanIn {
  size_t most;  // segments, at least 2
  uint64_t memory;
  // Bytes of buffer for each of n segments.
  size_t buffer(size_t n) const;
};

// Bounded by `memory` (bytes of buffers), by the process's limit of open files, and by what merges well.
FanIn fan_in(uint64_t memory);

// Merging `n` > most segments needs intermediate runs. Each run takes `most` consecutive segments, from the first on;
// returns how many runs one pass should make so that no byte is rewritten without need.
size_t runs_needed(size_t n, size_t most);

}  // namespace hd
