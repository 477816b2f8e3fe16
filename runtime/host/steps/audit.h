// What is counted of a map kernel's pairs before any combiner sees them.
#pragma once
#include <cstdint>

#include "../../device/steps/audit.h"
#include "collect/collector.h"
#include "launch/context.h"
#include "launch/launch.h"
#include "steps/sort.h"

namespace hd {

struct PairAudit {
  uint64_t bytes = 0;       // Hadoop's MAP_OUTPUT_BYTES: keys and values as serialised Texts
  uint64_t unreadable = 0;  // pairs that do not read back through the combiner's reader
  bool too_long = false;    // some line has more bytes than was said
};

// What the device knows of how a value is read.
ValueForm value_form(const PairCheck &check);

class PairAuditor {
 public:
  explicit PairAuditor(Device &device) : bytes_(device), unreadable_(device), sums_(device), too_long_(device) {}
  PairAudit count(GpuContext &context, const DeviceStore &store, const PairOrder &order, const PairCheck &check,
                  uint64_t longest_line);

 private:
  uint64_t sum(GpuContext &context, const uint32_t *values, uint64_t n);

  DeviceBuffer<uint32_t> bytes_, unreadable_;
  DeviceBuffer<uint64_t> sums_;
  DeviceBuffer<unsigned long long> too_long_;
};

}  // namespace hd
