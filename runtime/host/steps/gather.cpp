#include "steps/gather.h"

#include "../../device/steps/kernels.h"

namespace hd {

PairGather::PairGather(Device &device)
    : sizes_(device), offset_(device), text_(device), pairs_(device), host_text_(device), host_pairs_(device),
      host_partitions_(device) {}

template <class Room>
DeviceLines PairGather::format(GpuContext &context, const DeviceStore &store, const PairOrder &order, bool raw, Room room) {
  const uint32_t n = order.count;
  return context.stage(HD_STAGE_GATHER, [&] {
    OutputArgs lines{store.arena(), store.pairs(), order.data(), sizes_.reserve(n), nullptr, nullptr, n, raw};
    context.kernels.run("hd_output_sizes", lines, n);
    context.device.scan(sizes_.data(), offset_.reserve(uint64_t(n) + 1), n);
    const uint64_t total = context.fetch(offset_.data() + n);
    lines.offset = offset_.data();
    lines.text = room(total);
    context.kernels.run("hd_output", lines, n);
    return DeviceLines{lines.text, total};
  });
}

std::string_view PairGather::text(GpuContext &context, const DeviceStore &store, const PairOrder &order, bool raw) {
  const uint64_t bytes = format(context, store, order, raw, [&](uint64_t n) { return text_.reserve(n); }).bytes;
  context.stage(HD_STAGE_COPY_OUT, [&] { context.download(host_text_.reserve(bytes), text_.data(), bytes); });
  return {host_text_.data(), bytes};
}

void PairGather::lengths(GpuContext &context, const DeviceStore &store, const PairOrder &order, const uint32_t *partitions) {
  const uint32_t n = order.count;
  context.stage(HD_STAGE_GATHER, [&] {
    context.kernels.run("hd_gather_pairs", GatherPairsArgs{store.pairs(), order.data(), pairs_.reserve(n), n, 0}, n);
  });
  context.stage(HD_STAGE_COPY_OUT, [&] {
    context.download(host_pairs_.reserve(n), pairs_.data(), n * sizeof(Pair));
    if (partitions) context.download(host_partitions_.reserve(n), partitions, n * sizeof(uint32_t));
  });
}

HostPairs PairGather::pairs(GpuContext &context, const DeviceStore &store, const PairOrder &order,
                            const uint32_t *partitions) {
  const std::string_view lines = text(context, store, order, false);
  lengths(context, store, order, partitions);
  return {lines, host_pairs_.data(), partitions ? host_partitions_.data() : nullptr, order.count};
}

DeviceLines PairGather::lines(GpuContext &context, const DeviceStore &store, const PairOrder &order, OutputRoom &room) {
  context.book(HD_STAGE_WRITE, [&] { room.turn(); });
  return format(context, store, order, false, [&](uint64_t n) { return room.text(n); });
}

std::string PairGather::errors(GpuContext &context, const DeviceStore &store, const PairOrder &order) {
  const std::string_view ended = text(context, store, order, true);
  lengths(context, store, order, nullptr);
  std::string all;
  const char *at = ended.data();
  for (uint32_t i = 0; i < order.count; ++i) {
    all.append(at, host_pairs_.data()[i].length);
    at += host_pairs_.data()[i].length + 1;  // hd_output ends each with a newline
  }
  return all;
}

}  // namespace hd
