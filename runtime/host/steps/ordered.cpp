#include "steps/ordered.h"

#include <algorithm>
#include <bit>

#include "../../device/steps/kernels.h"
#include "task/failure_text.h"

namespace hd {
namespace {

constexpr uint64_t kLeastKeyPlaces = 1 << 12, kMostKeyPlaces = uint64_t(1) << 31, kGrowth = 8;
constexpr uint64_t kKeyPlacesPerKey = 2;
constexpr RuntimeKernels::Shape kChains{32, 32}, kLongChains{128, 8};  // the second: chain_threads in sink/ordered.cuh

// Of a record's number. What is largest is known of two and more.
uint32_t item_bits(const PairOrder &order) { return order.count < 2 ? 32 : uint32_t(std::bit_width(order.largest_item)); }

}  // namespace

OrderedCombiner::OrderedCombiner(Device &device)
    : table_(device), numbers_(device), length_(device), sizes_(device), at_(device), offset_(device), text_(device),
      states_(device), words_(device), flags_(device), lines_(device), line_order_(device) {}

void OrderedCombiner::begin_task() {
  known_ = 0;
  text_bytes_ = 0;
  stale_ = true;
}

void OrderedCombiner::release_tables() {
  if (known_) return;
  table_.reset();
  numbers_.reset();
  text_.reset();
  states_.reset();
  lines_.release();
  places_ = 0;
  stale_ = true;
}

// A table of `places`, with the keys that are kept.
void OrderedCombiner::rebuild(GpuContext &context, uint64_t places) {
  if (places > kMostKeyPlaces) throw OutOfDeviceMemory{places * sizeof(uint64_t)};
  places_ = 0;
  table_.reserve(places);
  numbers_.reserve(places);
  places_ = places;
  context.device.fill(table_.data(), 0, places * sizeof(unsigned long long));
  if (known_) context.kernels.run("hd_keys_insert", InsertKeysArgs{table(), kept()}, known_);
  stale_ = false;
}

// Reads the pairs and numbers their keys, with a larger table until there is room for all.
OrderedCombiner::Numbered OrderedCombiner::read(GpuContext &context, RuntimeKernels &kernels, const OrderedSpec &spec,
                                                const DeviceStore &store, const PairOrder &order, OrderedRoom &room,
                                                uint64_t first_record) {
  const uint32_t n = order.count;
  const uint64_t given = context.options.fold_places;
  uint64_t places = std::max({places_, given ? std::bit_ceil(given) : kLeastKeyPlaces, std::bit_ceil(kKeyPlacesPerKey * known_)});
  for (;; places *= kGrowth) {
    context.task.cancel.check();
    if (stale_ || places != places_) rebuild(context, places);
    OrderedWords words{};
    words.keys = known_;
    context.upload(words_.reserve(1), &words, sizeof words);
    const Columns columns{room.columns.reserve(8 * uint64_t(n) * spec.values), n, store.arena()};
    const ReadPairsArgs read{store.arena(), store.pairs(), order.data(), table(), kept(), words_.data(),
                             room.places.reserve(n), room.new_slots.reserve(n), room.new_places.reserve(n), columns,
                             spec.longest_line, n, 0};
    stale_ = true;
    kernels.run("hd_combine_values", read, n);
    words = context.fetch(words_.data());
    if (words.failure.status)
      throw Error(kRunOnCpu, describe(words.failure, "record " + std::to_string(first_record + words.failure.item)));
    if (words.too_long) throw Error(kRunOnCpu, "a line of the map's output is about as long as is allowed, or longer");
    if (!words.overflow) return {words.keys, words.bytes};
    ++context.stats.retries;
  }
}

// By key's number, record and sequence.
SortBuffers OrderedCombiner::sort(GpuContext &context, const DeviceStore &store, const PairOrder &order, OrderedRoom &room,
                                  uint32_t keys) {
  const uint32_t n = order.count;
  SortBuffers b{room.keys.reserve(n), room.other_keys.reserve(n), room.values.reserve(n), room.other_values.reserve(n)};
  context.kernels.run("hd_iota", MoveArgs{nullptr, nullptr, b.values, n, 0}, n);
  const auto by = [&](const char *kernel, int bits) {
    const OrderedKeysArgs arguments{store.pairs(), order.data(), room.places.data(), numbers_.data(), b.values, b.keys, n,
                                    item_bits(order)};
    context.kernels.run(kernel, arguments, n);
    if (bits && n > 1) context.device.sort(b, n, 0, bits);
  };
  if (n > 1 && order.largest_sequence) by("hd_ordered_sequences", int(std::bit_width(order.largest_sequence)));
  by("hd_ordered_keys", int(item_bits(order)) + int(std::bit_width(keys - 1)));
  return b;
}

OrderedCombiner::Runs OrderedCombiner::find_runs(GpuContext &context, const SortBuffers &sorted, uint32_t n, uint32_t item_bits,
                                    OrderedRoom &room) {
  context.kernels.run("hd_ordered_starts", OrderedStartsArgs{sorted.keys, room.flags.reserve(n), n, item_bits}, n);
  uint32_t *const starts = room.starts.reserve(uint64_t(n) + 1);
  const auto runs = uint32_t(context.device.select(room.flags.data(), starts, n));
  context.upload(starts + runs, &n, sizeof n);
  context.kernels.run("hd_ordered_long", LongRunsArgs{starts, room.flags.data(), runs, 0}, runs);
  uint32_t *const chosen = room.chosen.reserve(std::min(runs, n / long_run + 1));
  return {runs, uint32_t(context.device.select(room.flags.data(), chosen, runs))};
}

void OrderedCombiner::reserve_keys(GpuContext &context, const OrderedSpec &spec, uint64_t text, uint32_t keys) {
  const uint64_t state_bytes = 8 * uint64_t(std::max(spec.states, 1u));
  const bool grows = text > text_.capacity() || keys * state_bytes > states_.capacity();
  const uint64_t doubled = 2 * (text + keys * (state_bytes + sizeof(uint64_t) + sizeof(uint32_t)));
  if (grows && doubled > context.device.free_memory())
    throw Error(kRetryNoFold, "the device has no memory for what is kept of so many keys");
  reserve_more(text_, text_bytes_, text);
  reserve_more(at_, known_, keys);
  reserve_more(length_, known_, keys);
  reserve_more(states_, known_ * state_bytes, keys * state_bytes);
}

// The texts of the sub-split's new keys, whose store will be another's.
void OrderedCombiner::keep(GpuContext &context, const DeviceStore &store, OrderedRoom &room, uint32_t keys) {
  const uint32_t fresh = keys - known_;
  KeepKeysArgs arguments{store.arena(), store.pairs(), table(), kept(), room.new_slots.data(), room.new_places.data(),
                         room.sizes.data(), room.offset.data(), text_bytes_, fresh, 0};
  context.kernels.run("hd_keys_keep", arguments, fresh);
}

uint64_t OrderedCombiner::add(GpuContext &context, const OrderedSpec &spec, const DeviceStore &store, const PairOrder &order,
                              OrderedRoom &room, uint64_t first_record) {
  if (order.count == 0) return 0;
  RuntimeKernels kernels(context.device, spec.module);
  const uint32_t n = order.count, bits = item_bits(order);
  const Columns columns{room.sorted_columns.reserve(8 * uint64_t(n) * spec.values), n, store.arena()};
  const Numbered found = context.stage(HD_STAGE_STAGE, [&] { return read(context, kernels, spec, store, order, room, first_record); });
  const uint32_t fresh = found.keys - known_;
  uint64_t text = text_bytes_;
  if (fresh) context.stage(HD_STAGE_STAGE, [&] {
    KeepKeysArgs sizes{store.arena(), store.pairs(), table(), kept(), room.new_slots.data(), nullptr, room.sizes.reserve(fresh),
                       nullptr, 0, fresh, 0};
    context.kernels.run("hd_keys_sizes", sizes, fresh);
    context.device.scan(room.sizes.data(), room.offset.reserve(uint64_t(fresh) + 1), fresh);
    text += context.fetch(room.offset.data() + fresh);
    reserve_keys(context, spec, text, found.keys);
  });
  SortBuffers sorted;
  Runs runs;
  context.stage(HD_STAGE_SORT, [&] {
    sorted = sort(context, store, order, room, found.keys);
    runs = find_runs(context, sorted, n, bits, room);
  });
  context.stage(HD_STAGE_DEVICE_COMBINE, [&] {  // nothing of this can lack memory
    if (spec.values) kernels.run("hd_combine_gather", GatherColumnsArgs{{room.columns.data(), n, store.arena()}, columns, sorted.values}, n);
    if (fresh) keep(context, store, room, found.keys);
    ChainArgs chains{columns, sorted.keys, room.starts.data(), states_.data(), store.pairs(), order.data(), sorted.values,
                     room.chosen.data(), words_.data(), runs.all, known_, bits, 0};
    kernels.run("hd_combine", chains, runs.all, kChains);
    chains.runs = runs.longs;
    kernels.run("hd_combine_long", chains, 32 * uint64_t(runs.longs), kLongChains);
    const OrderedWords words = context.fetch(words_.data());
    if (words.failure.status)
      throw Error(kRunOnCpu, describe(words.failure, "the combiner's step of record " +
                                                         std::to_string(first_record + words.failure.item)));
  });
  known_ = found.keys;
  text_bytes_ = text;
  stale_ = false;
  ++context.stats.combine_rounds;
  return found.bytes;
}

OrderedPairs OrderedCombiner::lines(GpuContext &context, const OrderedSpec &spec) {
  RuntimeKernels kernels(context.device, spec.module);
  const uint32_t n = known_;
  context.stage(HD_STAGE_DEVICE_COMBINE, [&] {
    OrderedWords words{};
    context.upload(words_.reserve(1), &words, sizeof words);
    FinishArgs lines{kept(), states_.data(), sizes_.reserve(n), nullptr, nullptr, nullptr, words_.data(), spec.longest_output};
    kernels.run("hd_combine_sizes", lines, n);
    words = context.fetch(words_.data());
    if (words.failure.status) throw Error(kRunOnCpu, describe(words.failure, "what the combiner prints of a key"));
    if (words.too_long) throw Error(kRunOnCpu, "a line of the combiner's output is longer than is allowed");
    context.device.scan(sizes_.data(), offset_.reserve(uint64_t(n) + 1), n);
    const DeviceStore::Lines room = lines_.grow(0, context.fetch(offset_.data() + n), n);
    lines.offset = offset_.data();
    lines.to = room.arena;
    lines.lines = room.pairs;
    kernels.run("hd_combine_lines", lines, n);
    lines_.set_lines(n);
    context.kernels.run("hd_pair_flags", PairFlagsArgs{room.pairs, flags_.reserve(n), nullptr, nullptr, n, 0}, n);
    line_order_.count = uint32_t(context.device.select(flags_.data(), line_order_.reserve(n), n));
  });
  return {&lines_, &line_order_};
}

}  // namespace hd
