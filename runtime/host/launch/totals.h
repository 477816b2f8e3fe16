// What the records of a map task gather: in device memory, from launch to launch.
#pragma once
#include <string>

#include "launch/context.h"

namespace hd {

// A launch works on a copy: what it gathered counts only where all else that it made does.
class TaskTotals {
 public:
  // `nothing`: what is there before the first record; size 0: no record gathers. Throws OutOfDeviceMemory.
  TaskTotals(GpuContext &context, const hd_blob &nothing);
  void *begin();  // for a launch; null where no record gathers
  void keep();    // what the last launch gathered
  std::string bytes() const;

 private:
  GpuContext &context_;
  const uint64_t size_;
  DeviceBuffer<char> kept_, last_;
};

}  // namespace hd
