// Records on the device: a sub-split's lines are sent there, found and laid out as a RecordTable.
#pragma once
#include <cstdint>
#include <string_view>

#include "../device/abi.h"
#include "gpu_context.h"

namespace hd {

// The longest text of one sub-split: lengths of records are 32 bit.
constexpr uint64_t kMostSubSplit = uint64_t(1) << 31;

class DeviceRecords {
 public:
  explicit DeviceRecords(Device &device);
  // `lines` as of SubSplits, kMostSubSplit bytes at most. Throws OutOfDeviceMemory.
  void load(GpuContext &context, std::string_view lines);
  // A fresh copy for one launch, which may write into it. The table is valid until the next call.
  RecordTable stage(GpuContext &context);
  // A permutation of the records, the longest first; null where there are so many that balance comes by itself.
  const uint32_t *longest_first(GpuContext &context);
  uint32_t count() const { return count_; }
  uint64_t staged_bytes() const { return staged_bytes_; }
  void release();

 private:
  void index(GpuContext &context, uint64_t size);
  void plan_staging(GpuContext &context);

  DeviceBuffer<char> text_, staged_;
  DeviceBuffer<uint32_t> counts_, length_, sizes_, order_, other_order_;
  DeviceBuffer<uint64_t> first_, ends_, offset_, staged_offset_, keys_, other_keys_;
  uint32_t count_ = 0;
  uint64_t staged_bytes_ = 0;
};

}  // namespace hd
