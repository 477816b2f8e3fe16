#include "gpu/fold.h"

#include <algorithm>
#include <bit>

#include "../../device/steps/kernels.h"

namespace hd {
namespace {

constexpr uint64_t kLeastPlaces = 1024, kFirstPlaces = 1 << 20, kMostPlaces = uint64_t(1) << 31;
constexpr RuntimeKernels::Shape kShape{1024, 2};  // few blocks: each empties a table of its own at its end
constexpr uint64_t kFullShare = 8;  // of the memory that is free

}  // namespace

PairFolder::PairFolder(Device &device)
    : ids_(device), values_(device), words_(device), flags_(device), chosen_(device), sizes_(device), offset_(device),
      kept_(device), whole_(device), order_(device) {}

void PairFolder::clear() {
  kept_.set_lines(0);
  kept_text_ = 0;
  keeps_ = 0;
}

bool PairFolder::full(Device &device) const {
  return kept_text_ + kept_.slots() * sizeof(Pair) > device.free_memory() / kFullShare;
}

void PairFolder::reserve_table(GpuContext &context, uint64_t places, FoldOp op) {
  places_ = places;
  context.device.fill(ids_.reserve(places), 0, places * sizeof(uint64_t));
  context.device.fill(values_.reserve(places), fold_fill(op), places * sizeof(uint64_t));
  context.device.fill(words_.reserve(1), 0, sizeof(FoldWords));
}

FoldedPairs PairFolder::fold(GpuContext &context, const DeviceStore &store, const FoldSpec &spec) {
  const uint32_t slots = store.slots();
  const uint64_t given = context.options.fold_places;
  const uint64_t first = given ? std::bit_ceil(given) : std::clamp(std::bit_ceil(uint64_t(slots)), kLeastPlaces, kFirstPlaces);
  // A table that had to grow stays as large for stores that can fill it.
  for (uint64_t places = std::max(first, slots > places_ / 4 ? places_ : 0);; places *= 4) {
    if (places > kMostPlaces) throw OutOfDeviceMemory{places * 2 * sizeof(uint64_t)};
    context.task.cancel.check();
    const FoldWords words = context.stage(HD_STAGE_SORT, [&] {
      reserve_table(context, places, spec.op);
      const FoldArgs arguments{store.arena(), store.pairs(), table(spec.op), words_.data(), spec.longest_line,
                               spec.check.key_max, spec.check.none, spec.check.has_none, KeyReader(spec.check.key),
                               ValueReader(spec.check.value), slots};
      context.kernels.run("hd_fold", arguments, slots, kShape);
      return context.fetch(words_.data());
    });
    distinct_ = uint32_t(words.distinct);
    if (!words.overflow) return {words.pairs, words.bytes, words.unreadable, words.errors};
    ++context.stats.retries;
  }
}

// A line for each key in the table behind the lines and the text that `to` has.
void PairFolder::write_lines(GpuContext &context, const DeviceStore &from, const FoldSpec &spec, DeviceStore &to,
                             uint64_t text) {
  const uint32_t n = distinct_, first = to.slots();
  if (n == 0) return;
  context.stage(HD_STAGE_GATHER, [&] {
    context.kernels.run("hd_fold_flags", FoldFlagsArgs{ids_.data(), flags_.reserve(places_), places_}, places_);
    context.device.select(flags_.data(), chosen_.reserve(n), places_);
    FoldLinesArgs lines{from.arena(), from.pairs(), table(spec.op), chosen_.data(), sizes_.reserve(n), nullptr, nullptr,
                        nullptr, text, first, n, ValueReader(spec.check.value), 0};
    context.kernels.run("hd_fold_sizes", lines, n);
    context.device.scan(sizes_.data(), offset_.reserve(uint64_t(n) + 1), n);
    const uint64_t bytes = context.fetch(offset_.data() + n);
    lines.offset = offset_.data();
    const DeviceStore::Lines room = to.grow(text, text + bytes, uint64_t(first) + n);
    lines.to = room.arena;
    lines.lines = room.pairs;
    context.kernels.run("hd_fold_lines", lines, n);
    if (&to == &kept_) kept_text_ = text + bytes;
  });
  to.set_lines(first + n);
}

void PairFolder::keep(GpuContext &context, const DeviceStore &store, const FoldSpec &spec) {
  write_lines(context, store, spec, kept_, kept_text_);
  ++keeps_;
}

OrderedPairs PairFolder::lines(GpuContext &context, const FoldSpec &spec) {
  DeviceStore *found = &kept_;
  if (keeps_ > 1) {
    fold(context, kept_, spec);
    whole_.set_lines(0);
    write_lines(context, kept_, spec, whole_, 0);
    found = &whole_;
  }
  order_.count = found->slots();
  context.kernels.run("hd_iota", MoveArgs{nullptr, nullptr, order_.reserve(order_.count), order_.count, 0}, order_.count);
  return {found, &order_};
}

}  // namespace hd
