#include "ifile/fan_in.h"

#include <sys/resource.h>

#include <algorithm>

namespace hd {
namespace {

constexpr uint64_t kLeast = 16 << 10, kMost = 1 << 20;  // bytes a segment's buffer
constexpr uint64_t kWays = 200;                         // a wider tree gains nothing over another pass
constexpr uint64_t kShare = 6;                          // tasks of one process share its descriptors

}  // namespace

size_t FanIn::buffer(size_t n) const {
  return size_t(std::clamp<uint64_t>(memory / std::max<size_t>(n, 1), kLeast, kMost));
}

FanIn fan_in(uint64_t memory) {
  rlimit files{};
  const uint64_t open_files = getrlimit(RLIMIT_NOFILE, &files) == 0 ? uint64_t(files.rlim_cur) : 256;
  const uint64_t most = std::min({kWays, open_files / kShare, memory / kLeast});
  return {size_t(std::max<uint64_t>(most, 2)), memory};
}

size_t runs_needed(size_t n, size_t most) {
  if (n <= most) return 0;
  return std::min((n - most + most - 2) / (most - 1), n / most);  // a run of `most` lowers the count by most - 1
}

}  // namespace hd
