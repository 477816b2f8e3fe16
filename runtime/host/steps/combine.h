// Combining the pairs of a store on the device: rounds of the combine kernel over sorted pairs.
#pragma once
#include <cstdint>

#include "launch/launch.h"
#include "steps/sort.h"

namespace hd {

// Pairs of a store in an order; both belong to whoever made them.
struct OrderedPairs {
  const DeviceStore *store;
  PairOrder *order;
};

class DeviceCombiner {
 public:
  explicit DeviceCombiner(Device &device);
  // Combines `pairs`, which are ordered by partition and key. With `regroup` long runs of a key are cut and the rounds go
  // on until each key is there once; without, there is one round. The result is valid until the next call.
  // Throws Error kRunOnCpu where the kernel fails, writes to stderr or does not end, OutOfDeviceMemory.
  OrderedPairs run(GpuContext &context, UserKernel &kernel, OrderedPairs pairs, PairSorter &sorter, bool regroup);

 private:
  // One round's output.
  struct Round {
    DeviceStore store;
    PairOrder order;
    explicit Round(Device &device) : store(device), order(device) {}
  };

  void combine(GpuContext &context, UserKernel &kernel, const OrderedPairs &in, PairSorter &sorter, bool regroup,
               Round &out);
  LaunchInput plan(GpuContext &context, const OrderedPairs &in, bool regroup);
  RecordTable stage(GpuContext &context, const OrderedPairs &in, uint64_t bytes);
  uint32_t distinct_keys(GpuContext &context, const OrderedPairs &in);

  Round rounds_[2];
  PairOrder errors_;
  DeviceBuffer<uint8_t> flags_;
  DeviceBuffer<uint32_t> begin_, length_, sizes_, selected_;
  DeviceBuffer<uint64_t> offset_;
  DeviceBuffer<char> staged_;
};

}  // namespace hd
