#include "steps/run.h"

#include <string>

#include "../../device/steps/kernels.h"
#include "base/printable.h"

namespace hd {
namespace {

std::string key_at(GpuContext &context, const OrderedPairs &pairs, uint32_t i) {
  const Pair pair = context.fetch(pairs.store->pairs() + context.fetch(pairs.order->data() + i));
  std::string key(pair.key_length, '\0');
  if (pair.key_length) context.download(key.data(), pairs.store->arena() + pair.at, key.size());
  return printable(key);
}

}  // namespace

DeviceRun RunFormatter::format(GpuContext &context, const OrderedPairs &pairs, const uint32_t *partitions, uint32_t reducers,
                               OutputRoom &room) {
  const uint32_t n = pairs.order->count;
  context.book(HD_STAGE_WRITE, [&] { room.turn(); });
  DeviceRun run{nullptr, std::vector<uint64_t>(reducers + 1), std::vector<uint32_t>(reducers + 1)};
  context.stage(HD_STAGE_GATHER, [&] {
    OutputArgs records{pairs.store->arena(), pairs.store->pairs(), pairs.order->data(), sizes_.reserve(n), nullptr, nullptr,
                       n, 0};
    context.kernels.run("hd_ifile_sizes", records, n);
    context.device.scan(sizes_.data(), offset_.reserve(uint64_t(n) + 1), n);
    const uint64_t total = context.fetch(offset_.data() + n);
    records.offset = offset_.data();
    run.bytes = records.text = room.text(total);
    context.kernels.run("hd_ifile", records, n);
    const PartitionStartsArgs starts{partitions, offset_.data(), first_.reserve(uint64_t(reducers) + 1),
                                     start_.reserve(uint64_t(reducers) + 1), n, reducers};
    context.kernels.run("hd_partition_starts", starts, uint64_t(n) + 1);
  });
  context.stage(HD_STAGE_COPY_OUT, [&] {
    context.download(run.start.data(), start_.data(), run.start.size() * sizeof(uint64_t));
    context.download(run.first.data(), first_.data(), run.first.size() * sizeof(uint32_t));
  });
  return run;
}

void RunFormatter::check_order(GpuContext &context, const OrderedPairs &pairs, const uint32_t *partitions) {
  const uint32_t n = pairs.order->count;
  const uint32_t at = context.stage(HD_STAGE_GATHER, [&] {
    context.device.fill(disorder_.reserve(1), 0xff, sizeof(uint32_t));
    const DisorderArgs order{pairs.store->arena(), pairs.store->pairs(), pairs.order->data(), partitions, disorder_.data(), n, 0};
    context.kernels.run("hd_disorder", order, n);
    return context.fetch(disorder_.data());
  });
  if (at >= n) return;
  throw Error(kRunOnCpu, "the combine kernel's output key " + key_at(context, pairs, at) +
                             " is out of order; the key before it was " + key_at(context, pairs, at - 1));
}

}  // namespace hd
