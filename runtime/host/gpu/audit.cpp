#include "gpu/audit.h"

#include "../../device/steps/audit.h"

namespace hd {

static_assert(uint32_t(KeyReader::uint64) == PairCheck::kKeyUint64 && uint32_t(ValueReader::uint64) == PairCheck::kUint64);

uint64_t PairAuditor::sum(GpuContext &context, const uint32_t *values, uint64_t n) {
  uint64_t *const sums = sums_.reserve(n + 1);
  context.device.scan(values, sums, n);
  return context.fetch(sums + n);
}

PairAudit PairAuditor::count(GpuContext &context, const DeviceStore &store, const PairOrder &order, const PairCheck &check,
                             uint64_t longest_line) {
  const uint32_t n = order.count;
  const AuditArgs arguments{store.arena(), store.pairs(), order.data(), bytes_.reserve(n), unreadable_.reserve(n),
                            too_long_.reserve(1), longest_line, check.key_max, check.none, check.has_none, KeyReader(check.key), ValueReader(check.value), n};
  return context.stage(HD_STAGE_GATHER, [&] {
    context.device.fill(too_long_.data(), 0, sizeof(unsigned long long));
    context.kernels.run("hd_audit", arguments, n);
    const bool checked = check.key != PairCheck::kNoCheck || check.value != PairCheck::kAny;
    PairAudit found{sum(context, bytes_.data(), n), checked ? sum(context, unreadable_.data(), n) : 0};
    found.too_long = found.bytes > longest_line && context.fetch(too_long_.data()) != 0;
    return found;
  });
}

}  // namespace hd
