// A sorted run becomes the records of an IFile on the device: the host adds end marks and checksums only.
#pragma once
#include <cstdint>
#include <vector>

#include "steps/combine.h"
#include "launch/context.h"
#include "output/room.h"

namespace hd {

// In the device's memory. Partition p: bytes [start[p], start[p + 1]), records first[p] ... first[p + 1] - 1.
struct DeviceRun {
  const char *bytes = nullptr;
  std::vector<uint64_t> start;
  std::vector<uint32_t> first;
  uint64_t count() const { return first.empty() ? 0 : first.back(); }
};

class RunFormatter {
 public:
  explicit RunFormatter(Device &device)
      : sizes_(device), first_(device), disorder_(device), offset_(device), start_(device) {}
  // `partitions` of the pairs in their order, of `reducers`. The run is the room's text. Throws OutOfDeviceMemory, and as
  // OutputRoom::finish.
  DeviceRun format(GpuContext &context, const OrderedPairs &pairs, const uint32_t *partitions, uint32_t reducers,
                   OutputRoom &room);
  // Throws Error kRunOnCpu where they are not ordered by partition and key: what a combine kernel gives back is not
  // taken on trust.
  void check_order(GpuContext &context, const OrderedPairs &pairs, const uint32_t *partitions);

 private:
  DeviceBuffer<uint32_t> sizes_, first_, disorder_;
  DeviceBuffer<uint64_t> offset_, start_;
};

}  // namespace hd
