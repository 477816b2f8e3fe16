// A kernel made from the user's program, ready to launch: its entry, its `Shared` argument, the objects behind it.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/device_buffer.h"
#include "task/gpu_api.h"

namespace hd {

// Device copies of read-only objects, by content: the tasks of a job bring the same ones.
class ObjectCache {
 public:
  explicit ObjectCache(Device &device) : device_(device) {}
  void begin_task();  // what neither the task before nor this one uses is dropped at the next begin_task
  // The device address of a copy; throws OutOfDeviceMemory.
  char *copy_of(const hd_blob &object);
  void clear() { entries_.clear(); }

 private:
  struct Entry {
    DeviceBuffer<char> memory;
    uint64_t last_task;
  };
  Device &device_;
  uint64_t task_ = 0;
  std::unordered_map<std::string, Entry> entries_;
};

class UserKernel {
 public:
  // Throws Error kBadInput for a relocation outside of `shared`, OutOfDeviceMemory, std::runtime_error.
  UserKernel(const hd_kernel_spec &spec, Device &device, ObjectCache &objects);
  ~UserKernel() { release(); }
  UserKernel(const UserKernel &) = delete;
  UserKernel &operator=(const UserKernel &) = delete;
  const hd_kernel_spec &spec() const { return spec_; }
  const void *entry() const { return entry_; }
  bool folds() const { return spec_.flags & HD_MAP_FOLD; }
  uint32_t threads() const { return threads_; }
  // Threads of a block that take items, each with its own area.
  uint32_t workers() const { return spec_.flags & HD_ONE_PER_WARP ? (threads_ + 31) / 32 : threads_; }
  // Blocks for a launch over `items` items: no more than they keep busy, unless the program says how many.
  uint32_t blocks(uint64_t items) const;
  void *shared() { return shared_.data(); }

  // ThreadArea only: factors on the first sizes, which a launch that overflowed doubles; kept for the next sub-splits.
  uint64_t slots_factor = 1, bytes_factor = 1;

 private:
  void relocate(const hd_relocation &r, const std::vector<char *> &objects);
  void release() noexcept;

  Device &device_;
  const hd_kernel_spec spec_;
  const void *entry_;
  uint32_t threads_, most_blocks_;
  std::vector<char> shared_;
  std::vector<uint64_t> textures_;
};

}  // namespace hd
