// Records on the device: those of a sub-split's text are found and laid out as a RecordTable.
#pragma once
#include <cstdint>
#include <vector>

#include "../../device/steps/kernels.h"
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
  // Records of `long_record` bytes and more, in their order; none where there are so many that they can be done side by side.
  std::vector<LongRecord> few_long(GpuContext &context) const;
  void release();

 private:
  void index(GpuContext &context);

  DeviceText text_;
  DeviceBuffer<char> staged_;
  DeviceBuffer<uint32_t> counts_, last_, length_, order_, other_order_;
  DeviceBuffer<uint64_t> first_, offset_, slot_, keys_, other_keys_;
  DeviceBuffer<LongRecords> longs_;
  uint32_t count_ = 0;
  uint64_t empty_ = 0;  // tiles without a record's end
};

}  // namespace hd
