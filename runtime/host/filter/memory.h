// How much memory a filter has in use.
#pragma once
#include <sys/types.h>

#include <cstdint>

namespace hd {

// Bytes of memory that a process and those it started, and these, have resident, as YARN counts a container's: pages that
// several of them share count for each. What has ended meanwhile counts nothing; where the system does not say who started whom,
// the process alone counts.
uint64_t memory_of_tree(pid_t pid);

}  // namespace hd
