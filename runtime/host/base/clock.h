// Seconds of a clock, for the stage times of tasks.
#pragma once
#include <time.h>

namespace hd {

inline double seconds_of(clockid_t clock) {
  timespec t;
  ::clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

inline double now() { return seconds_of(CLOCK_MONOTONIC); }

}  // namespace hd
