// The emulated device's memory: the host's, counted and limited, filled with a pattern before anyone writes it.
#pragma once
#include <cstdint>
#include <unordered_map>

namespace hd {

class EmulatedMemory {
 public:
  EmulatedMemory() = default;
  ~EmulatedMemory();
  EmulatedMemory(const EmulatedMemory &) = delete;
  EmulatedMemory &operator=(const EmulatedMemory &) = delete;

  void *allocate(uint64_t bytes);  // nullptr beyond the limit
  void free(void *memory) noexcept;
  uint64_t left() const { return limit > used_ ? limit - used_ : 0; }
  uint64_t used() const { return used_; }

  uint64_t limit = kUsual;
  uint8_t pattern = 0;
  static constexpr uint64_t kUsual = uint64_t(1) << 30;

 private:
  std::unordered_map<void *, uint64_t> sizes_;
  uint64_t used_ = 0;
};

}  // namespace hd
