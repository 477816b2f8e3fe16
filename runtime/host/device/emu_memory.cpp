#include "device/emu_memory.h"

#include <cstdlib>
#include <cstring>

namespace hd {
namespace {

constexpr uint64_t kAlignment = 256;  // as cudaMalloc's

}  // namespace

EmulatedMemory::~EmulatedMemory() {
  for (const auto &[memory, size] : sizes_) std::free(memory);
}

void *EmulatedMemory::allocate(uint64_t bytes) {
  if (bytes > left()) return nullptr;
  const uint64_t size = (bytes + kAlignment) / kAlignment * kAlignment;
  void *const memory = std::aligned_alloc(kAlignment, size);
  if (!memory) return nullptr;
  std::memset(memory, pattern, size);
  sizes_.emplace(memory, bytes);
  used_ += bytes;
  return memory;
}

void EmulatedMemory::free(void *memory) noexcept {
  const auto found = sizes_.find(memory);
  if (found == sizes_.end()) return;
  used_ -= found->second;
  sizes_.erase(found);
  std::free(memory);
}

}  // namespace hd
