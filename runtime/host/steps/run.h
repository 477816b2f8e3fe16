// A sorted run comes back from the device as the records of an IFile: the host adds end marks and checksums only.
#pragma once
#include <cstdint>
#include <vector>

#include "steps/combine.h"
#include "launch/context.h"

namespace hd {

// In the host's memory. Partition p: bytes [start[p], start[p + 1]), records first[p] ... first[p + 1] - 1.
struct HostRun {
  const char *bytes = nullptr;
  std::vector<uint64_t> start;
  std::vector<uint32_t> first;
  uint64_t count() const { return first.empty() ? 0 : first.back(); }
};

class RunFormatter {
 public:
  explicit RunFormatter(Device &device)
      : sizes_(device), first_(device), disorder_(device), offset_(device), start_(device), bytes_(device),
        host_bytes_(device) {}
  // `partitions` of the pairs in their order, of `reducers`. Valid until the next call. Throws OutOfDeviceMemory.
  HostRun format(GpuContext &context, const OrderedPairs &pairs, const uint32_t *partitions, uint32_t reducers);
  // Throws Error kRunOnCpu where they are not ordered by partition and key: what a combine kernel gives back is not
  // taken on trust.
  void check_order(GpuContext &context, const OrderedPairs &pairs, const uint32_t *partitions);

 private:
  DeviceBuffer<uint32_t> sizes_, first_, disorder_;
  DeviceBuffer<uint64_t> offset_, start_;
  DeviceBuffer<char> bytes_;
  HostBuffer<char> host_bytes_;
};

}  // namespace hd
