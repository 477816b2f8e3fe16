// Records on the device: those of a sub-split's text are found and laid out as a RecordTable.
#pragma once
#include <cstdint>

#include "../../device/steps/abi.h"
#include "launch/context.h"
#include "input/ingest.h"

namespace hd {

class DeviceRecords {
 public:
  explicit DeviceRecords(Device &device);
  // `text`: kMostSubSplit bytes at most; it stays where it is as long as stage() is called. Throws OutOfDeviceMemory.
  void load(GpuContext &context, const DeviceText &text);
  // A fresh copy for one launch, which may write into it. The table is valid until the next call.
  RecordTable stage(GpuContext &context);
  // A permutation of the records, the longest first; null where there are so many that balance comes by itself, unless
  // the map kernel is `slow`: then it pays that the threads of a warp have records about as long as each other.
  const uint32_t *longest_first(GpuContext &context, bool slow);
  uint32_t count() const { return count_; }
  void release();

 private:
  void index(GpuContext &context);

  DeviceText text_;
  DeviceBuffer<char> staged_;
  DeviceBuffer<uint32_t> counts_, last_, length_, order_, other_order_;
  DeviceBuffer<uint64_t> first_, offset_, slot_, keys_, other_keys_;
  uint32_t count_ = 0;
};

}  // namespace hd
