#include "steps/sort.h"

#include <bit>

#include "../../device/steps/kernels.h"

namespace hd {
namespace {

constexpr uint32_t kLevelBytes = 8;  // of the key, sorted at a time
constexpr int kClampBits = 4;        // of hd_clamp_keys

}  // namespace

// Pairs that tied on the bytes before `position`: in groups, each a segment. Level 0: all pairs, by partition.
struct PairSorter::Level {
  PairOrder *order;
  const uint32_t *places;  // where they belong in the whole order; null: all of it
  uint32_t position;
  PairOrder *next;         // gets what still ties
  uint32_t *next_places;
};

PairSorter::PairSorter(Device &device)
    : flags_(device), segment_(device), start_(device), chosen_(device), gathered_(device), rank_(device), ties_(device),
      other_ties_(device), places_(device), other_places_(device) {}

// All slots are looked at.
void PairSorter::select_slots(GpuContext &context, const DeviceStore &store, Stream stream, PairOrder &order) {
  LaunchWords *const words = store.words();
  const uint32_t slots = store.slots();
  const PairFlagsArgs flags{store.pairs(), flags_.reserve(slots), &words->largest_sequence, &words->largest_item, slots,
                            uint32_t(stream)};
  context.kernels.run("hd_pair_flags", flags, slots);
  order.count = uint32_t(context.device.select(flags_.data(), order.reserve(slots), slots));
}

// The used slots alone, by the areas' counts.
void PairSorter::scan_areas(GpuContext &context, const DeviceStore &store, Stream stream, PairOrder &order) {
  LaunchWords *const words = store.words();
  const Areas &areas = store.areas();
  AreaSlotsArgs slots{store.pairs(), areas.used, start_.reserve(areas.count), nullptr, nullptr, &words->largest_sequence,
                      &words->largest_item, areas.count, areas.slots, uint32_t(stream), 0};
  context.kernels.run("hd_area_counts", slots, areas.count);
  context.device.scan(start_.data(), rank_.reserve(uint64_t(areas.count) + 1), areas.count);
  order.count = uint32_t(context.fetch(rank_.data() + areas.count));
  slots.first = rank_.data();
  slots.order = order.reserve(order.count);
  if (order.count) context.kernels.run("hd_area_slots", slots, areas.count);
}

void PairSorter::collect(GpuContext &context, const DeviceStore &store, Stream stream, PairOrder &order) {
  LaunchWords *const words = store.words();
  context.device.fill(&words->largest_sequence, 0, 2 * sizeof(uint32_t));
  if (store.areas().used) scan_areas(context, store, stream, order);
  else select_slots(context, store, stream, order);
  if (order.count < 2) return;
  const LaunchWords largest = context.fetch(words);
  order.largest_sequence = largest.largest_sequence & ~to_stderr;
  order.largest_item = largest.largest_item;
}

void PairSorter::in_sequence(GpuContext &context, const DeviceStore &store, PairOrder &order) {
  const auto keys = [&](const uint32_t *of, uint64_t *to) {
    const KeysArgs arguments{store.arena(), store.pairs(), nullptr, of, to, order.count, 0};
    context.kernels.run("hd_order_keys", arguments, order.count);
  };
  if (order.count < 2) return;
  order.sort(context.device, keys, 0, int(std::bit_width(order.largest_sequence)));
  order.sort(context.device, keys, 32, 32 + int(std::bit_width(order.largest_item)));
}

void PairSorter::sort_level(GpuContext &context, const DeviceStore &store, PairOrder &order, uint32_t position,
                            uint64_t segments) {
  const auto keys_by = [&](const char *kernel) {
    return [&, kernel](const uint32_t *of, uint64_t *to) {
      const KeysArgs arguments{store.arena(), store.pairs(), segment_.data(), of, to, order.count, position};
      context.kernels.run(kernel, arguments, order.count);
    };
  };
  order.sort(context.device, keys_by("hd_clamp_keys"), 0, kClampBits);
  order.sort(context.device, keys_by("hd_prefix_keys"), 0, 64);
  order.sort(context.device, keys_by("hd_segment_keys"), 0, int(std::bit_width(segments - 1)));
}

// Returns how many pairs tie with a neighbour also on this level's bytes; they go to level.next.
uint32_t PairSorter::find_ties(GpuContext &context, const DeviceStore &store, const Level &level) {
  const uint32_t n = level.order->count;
  const uint32_t *const order = level.order->data();
  const TieFlagsArgs flags{store.arena(), store.pairs(), order, segment_.data(), flags_.reserve(n), start_.reserve(n), n,
                           level.position};
  context.kernels.run("hd_tie_flags", flags, n);
  const auto tied = uint32_t(context.device.select(flags_.data(), chosen_.reserve(n), n));
  if (tied == 0) return 0;
  context.device.scan(start_.data(), rank_.reserve(uint64_t(n) + 1), n);
  const TiesArgs ties{order, level.places, chosen_.data(), start_.data(), rank_.data(), segment_.data(),
                      level.next->reserve(tied), level.next_places, tied, 0};
  context.kernels.run("hd_ties", ties, tied);
  return level.next->count = tied;
}

void PairSorter::by_key(GpuContext &context, const DeviceStore &store, uint32_t reducers, PairOrder &order,
                        bool unique) {
  if (order.count < 2) return;
  const PartitionsArgs partitions{store.arena(), store.pairs(), order.data(), segment_.reserve(store.slots()), order.count,
                                  reducers};
  context.kernels.run("hd_partitions", partitions, order.count);
  if (context.options.sort_kind == HD_MERGE_SORT) return merge_sort(context, store, order);
  if (!unique) in_sequence(context, store, order);
  radix_sort(context, store, reducers, order);
}

void PairSorter::merge_sort(GpuContext &context, const DeviceStore &store, PairOrder &order) {
  const auto pass = [&](const char *kernel, uint64_t width) {
    context.task.cancel.check();
    order.rearrange([&](const uint32_t *from, uint32_t *to) {
      const MergeArgs runs{store.arena(), store.pairs(), segment_.data(), from, to, width, order.count, 0};
      context.kernels.run(kernel, runs, order.count);
    });
    ++context.stats.merge_passes;
  };
  pass("hd_sort_tiles", 0);
  for (uint64_t width = merge_tile; width < order.count; width *= 2) pass("hd_merge_runs", width);
}

void PairSorter::radix_sort(GpuContext &context, const DeviceStore &store, uint32_t reducers, PairOrder &order) {
  const uint32_t n = order.count;
  sort_level(context, store, order, 0, reducers);
  Level level{&order, nullptr, 0, &ties_, places_.reserve(n)};
  uint32_t *spare_places = other_places_.reserve(n);
  PairOrder *spare = &other_ties_;
  for (++context.stats.sort_levels; uint32_t tied = find_ties(context, store, level); ++context.stats.sort_levels) {
    context.task.cancel.check();
    PairOrder *const current = level.next;
    uint32_t *const places = level.next_places;
    level = {current, places, level.position + kLevelBytes, spare, spare_places};
    spare = current;
    spare_places = places;
    sort_level(context, store, *current, level.position, tied);
    context.kernels.run("hd_scatter_u32", MoveArgs{current->data(), places, order.reserve(n), tied, 0}, tied);
  }
}

const uint32_t *PairSorter::partitions(GpuContext &context, const DeviceStore &store, uint32_t reducers,
                                       const PairOrder &order) {
  const uint32_t n = order.count;
  const PartitionsArgs partitions{store.arena(), store.pairs(), order.data(), segment_.reserve(store.slots()), n, reducers};
  context.kernels.run("hd_partitions", partitions, n);
  uint32_t *const gathered = gathered_.reserve(n);
  context.kernels.run("hd_gather_u32", MoveArgs{segment_.data(), order.data(), gathered, n, 0}, n);
  return gathered;
}

}  // namespace hd
