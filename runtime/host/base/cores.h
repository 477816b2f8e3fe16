// The processors that this process may use.
#pragma once
#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <thread>

namespace hd {

inline uint32_t usable_cores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return uint32_t(CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace hd
