#include "steps/combine.h"

#include "../../device/steps/kernels.h"
#include "task/failure_text.h"

namespace hd {
namespace {

RunFlagsArgs run_flags(const OrderedPairs &pairs, uint8_t *flags, bool regroup) {
  return {pairs.store->arena(), pairs.store->pairs(), pairs.order->data(), flags, pairs.order->count, regroup};
}

StagePairsArgs staging(const OrderedPairs &pairs) {
  return {pairs.store->arena(), pairs.store->pairs(), pairs.order->data(), nullptr, nullptr, nullptr, nullptr,
          pairs.order->count, 0};
}

}  // namespace

DeviceCombiner::DeviceCombiner(Device &device)
    : rounds_{Round(device), Round(device)}, errors_(device), flags_(device), begin_(device), length_(device),
      sizes_(device), selected_(device), offset_(device), staged_(device) {}

OrderedPairs DeviceCombiner::run(GpuContext &context, UserKernel &kernel, OrderedPairs pairs, PairSorter &sorter,
                                 bool regroup) {
  for (int round = 0; pairs.order->count > 0; round ^= 1) {
    Round &out = rounds_[round];
    combine(context, kernel, pairs, sorter, regroup, out);
    ++context.stats.combine_rounds;
    const OrderedPairs combined{&out.store, &out.order};
    if (!regroup || distinct_keys(context, combined) == out.order.count) return combined;
    if (out.order.count >= pairs.order->count)
      throw Error(kRunOnCpu, "the combine kernel does not bring the pairs of a key together");
    pairs = combined;
  }
  return pairs;
}

void DeviceCombiner::combine(GpuContext &context, UserKernel &kernel, const OrderedPairs &in, PairSorter &sorter,
                             bool regroup, Round &out) {
  const LaunchInput input = plan(context, in, regroup);
  const Failure failure = launch_kernel(context, kernel, input, out.store, HD_STAGE_DEVICE_COMBINE);
  if (failure.status) throw Error(kRunOnCpu, describe(failure, "combine kernel"));
  context.stage(HD_STAGE_SORT, [&] {
    sorter.collect(context, out.store, Stream::errors, errors_);
    sorter.collect(context, out.store, Stream::pairs, out.order);
    sorter.in_sequence(context, out.store, out.order);
  });
  if (errors_.count) throw Error(kRunOnCpu, "the combiner writes to stderr");
}

// Cuts the pairs into items and measures their text.
LaunchInput DeviceCombiner::plan(GpuContext &context, const OrderedPairs &in, bool regroup) {
  const uint32_t n = in.order->count;
  LaunchInput input;
  context.stage(HD_STAGE_STAGE, [&] {
    context.kernels.run("hd_chunk_flags", run_flags(in, flags_.reserve(n), regroup), n);
    uint32_t *const begin = begin_.reserve(uint64_t(n) + 1);
    input.items = uint32_t(context.device.select(flags_.data(), begin, n));
    context.upload(begin + input.items, &n, sizeof n);
    StagePairsArgs sizes = staging(in);
    sizes.length = length_.reserve(n);
    sizes.sizes = sizes_.reserve(n);
    context.kernels.run("hd_stage_pair_sizes", sizes, n);
    context.device.scan(sizes_.data(), offset_.reserve(uint64_t(n) + 1), n);
    input.text_bytes = context.fetch(offset_.data() + n);
  });
  input.begin = begin_.data();
  input.stage = [this, &context, in, bytes = input.text_bytes] { return stage(context, in, bytes); };
  return input;
}

RecordTable DeviceCombiner::stage(GpuContext &context, const OrderedPairs &in, uint64_t bytes) {
  return context.stage(HD_STAGE_STAGE, [&] {
    StagePairsArgs copy = staging(in);
    copy.length = length_.data();
    copy.staged = staged_.reserve(bytes);
    copy.staged_offset = offset_.data();
    context.kernels.run("hd_stage_pairs", copy, copy.count);
    return RecordTable{copy.staged, copy.staged_offset, length_.data(), copy.count};
  });
}

uint32_t DeviceCombiner::distinct_keys(GpuContext &context, const OrderedPairs &in) {
  const uint32_t n = in.order->count;
  return context.stage(HD_STAGE_STAGE, [&] {
    context.kernels.run("hd_run_flags", run_flags(in, flags_.reserve(n), false), n);
    return uint32_t(context.device.select(flags_.data(), selected_.reserve(n), n));
  });
}

}  // namespace hd
