// Launching a map or combine kernel until its output fits its store.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "../../device/steps/abi.h"
#include "launch/context.h"
#include "launch/kernel.h"
#include "launch/totals.h"

namespace hd {

// The words that a launch changes, in the device's memory.
struct LaunchWords {
  unsigned long long arena_used, pairs_used;
  Failure failure;
  unsigned int next;
  uint32_t largest_sequence, largest_item;  // of hd_pair_flags
  uint32_t reserved;
};

// Areas of equal size in the pairs array, whose first slots are used. `used` null: nothing is known about them.
struct Areas {
  const uint32_t *used = nullptr;
  uint32_t count = 0, slots = 0;
};

// A launch's output: lines in an arena, and the array that says where. Keeps its memory from launch to launch.
class DeviceStore {
 public:
  explicit DeviceStore(Device &device) : arena_(device), pairs_(device), words_(device), used_(device) {}
  const char *arena() const { return arena_.data(); }
  const Pair *pairs() const { return pairs_.data(); }
  LaunchWords *words() const { return words_.data(); }
  uint32_t slots() const { return slots_; }  // the first ones may hold pairs
  const Areas &areas() const { return areas_; }
  void release();

  // For lines that come from elsewhere: room for so much text and so many pairs in all; the first `text` bytes and the
  // lines that are there stay. Throws OutOfDeviceMemory: then nothing has changed.
  struct Lines {
    char *arena;
    Pair *pairs;
  };
  Lines grow(uint64_t text, uint64_t arena_bytes, uint64_t pairs);
  void set_lines(uint32_t n) { slots_ = n; }

 private:
  friend class KernelLaunch;
  DeviceBuffer<char> arena_;
  DeviceBuffer<Pair> pairs_;
  DeviceBuffer<LaunchWords> words_;
  DeviceBuffer<uint32_t> used_;
  Areas areas_;
  uint32_t slots_ = 0;
  uint64_t few_slots_ = 0;  // that launches whose kernels fold their pairs needed lately
};

// What a launch works on. `stage` lays out the records anew: a kernel may have written into them.
struct LaunchInput {
  std::function<RecordTable()> stage;
  const uint32_t *begin = nullptr;
  const uint32_t *order = nullptr;
  uint32_t long_bytes = 0;  // see Task
  uint32_t items = 0;
  uint64_t text_bytes = 0;  // of the staged records: the first guess at the output's size
  // Of a map kernel that folds its pairs: makes the table for a launch with so many threads, empty. It then writes few.
  std::function<TaskFold(uint64_t threads)> fold;
  TaskTotals *totals = nullptr;  // of a map: what its records gather
};

// Launches `kernel`, with more room until the output fits; books the time under `which`. The failure that ended it
// otherwise is returned, status ok if none did. Throws OutOfDeviceMemory.
Failure launch_kernel(GpuContext &context, UserKernel &kernel, const LaunchInput &input, DeviceStore &store, hd_stage which);

}  // namespace hd
