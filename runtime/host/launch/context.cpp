#include "launch/context.h"

#include <algorithm>
#include <cstring>

namespace hd {

void RuntimeKernels::launch(const char *entry, void **arguments, uint64_t n, Shape shape) {
  if (n == 0) return;
  const bool emulated = std::strcmp(device_.kind(), "emulated") == 0;  // lanes are fibers there: few, and two warps
  const uint32_t threads = emulated ? 64 : shape.threads;
  const uint64_t most = uint64_t(device_.multiprocessors()) * (emulated ? 1 : shape.blocks);
  const uint32_t blocks = uint32_t(std::min(most, (n + threads - 1) / threads));
  device_.launch({device_.kernel(module_, entry), blocks, threads, 0}, arguments);
}

}  // namespace hd
