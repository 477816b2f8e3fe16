#include "steps/audit.h"

#include <algorithm>

namespace hd {

static_assert(uint32_t(KeyReader::uint64) == PairCheck::kKeyUint64 && uint32_t(ValueReader::uint64) == PairCheck::kUint64);

static_assert(PairCheck::kMostValues == most_values && PairCheck::kMostBetween == most_between);

ValueForm value_form(const PairCheck &check) {
  ValueForm form{check.values, {}, {}, {}};
  for (uint32_t i = 0; i < check.values; ++i) {
    form.readers[i] = ValueReader(check.value[i]);
    form.between_size[i] = check.between_size[i];
    std::copy_n(check.between[i], most_between, form.between[i]);
  }
  return form;
}

uint64_t PairAuditor::sum(GpuContext &context, const uint32_t *values, uint64_t n) {
  uint64_t *const sums = sums_.reserve(n + 1);
  context.device.scan(values, sums, n);
  return context.fetch(sums + n);
}

PairAudit PairAuditor::count(GpuContext &context, const DeviceStore &store, const PairOrder &order, const PairCheck &check,
                             uint64_t longest_line) {
  const uint32_t n = order.count;
  const AuditArgs arguments{store.arena(), store.pairs(), order.data(), bytes_.reserve(n), unreadable_.reserve(n),
                            too_long_.reserve(1), longest_line, check.key_max, check.none, check.has_none, KeyReader(check.key), n,
                            value_form(check)};
  return context.stage(HD_STAGE_GATHER, [&] {
    context.device.fill(too_long_.data(), 0, sizeof(unsigned long long));
    context.kernels.run("hd_audit", arguments, n);
    const bool checked = check.key != PairCheck::kNoCheck || check.values != 0;
    PairAudit found{sum(context, bytes_.data(), n), checked ? sum(context, unreadable_.data(), n) : 0};
    found.too_long = found.bytes > longest_line && context.fetch(too_long_.data()) != 0;
    return found;
  });
}

}  // namespace hd
