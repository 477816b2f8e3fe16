#include "steps/fold.h"

#include <algorithm>
#include <bit>

#include "../../device/steps/kernels.h"
#include "steps/audit.h"

namespace hd {
namespace {

constexpr uint64_t kLeastPlaces = 1024, kFirstPlaces = 1 << 20, kMostPlaces = uint64_t(1) << 31;
constexpr uint64_t kLeastMapPlaces = 4096, kMostMapPlaces = 1 << 22;  // of a map kernel's table
constexpr uint64_t kBytesPerKey = 64;  // of input, by a first guess
// Of a map kernel's table, at the least: hardly any key then has more than map_fold_probes before its place. Below
// kFirstPlaces there are more, so that a launch with other texts finds room too.
constexpr uint64_t kPlacesPerKey = 4, kSparePlaces = 16;
constexpr uint64_t kBlockPlaces = 8;  // that a block's table of a map kernel has for each of its threads, at most
constexpr RuntimeKernels::Shape kShape{1024, 2};  // few blocks: each empties a table of its own at its end
constexpr uint64_t kFullShare = 8;  // of the memory that is free

// Of the table of a map kernel whose fullest launch had so many keys. More keys: no fewer places.
uint64_t map_places(uint64_t keys) {
  const uint64_t usual = std::clamp(std::bit_ceil(kSparePlaces * keys), kLeastMapPlaces, kFirstPlaces);
  return std::clamp(std::bit_ceil(kPlacesPerKey * keys), usual, kMostMapPlaces);
}

const char *kernel_of(const FoldForm &form) {
  return form.value.count == 1 ? "hd_fold" : form.value.count <= 4 ? "hd_fold_4" : "hd_fold_8";
}

}  // namespace

static_assert(uint32_t(FoldOp::bits_xor) + 1 == HD_FOLD_XOR);

FoldForm fold_form(uint32_t hash_fold, const PairCheck &check) {
  FoldForm form{value_form(check), {}};
  uint32_t numbers = 0;
  for (; hash_fold; hash_fold >>= 4, ++numbers) {
    const uint32_t op = hash_fold & 0xf;
    if (op == HD_NO_HASH_FOLD || op > HD_FOLD_XOR) throw Error(kBadInput, "unknown kind of fold");
    form.ops[numbers] = FoldOp(op - 1);
  }
  if (numbers != form.value.count) form.value.count = 0;
  return form;
}

PairFolder::PairFolder(Device &device)
    : table_(device), mapped_(device), words_(device), map_words_(device), flags_(device), chosen_(device), sizes_(device),
      offset_(device), kept_(device), whole_(device), order_(device) {}

void PairFolder::begin_task(std::string_view map) {
  clear();
  if (map == map_) return;
  map_ = map;
  most_keys_ = 0;
}

void PairFolder::clear() {
  kept_.set_lines(0);
  kept_text_ = 0;
  keeps_ = 0;
}

void PairFolder::release_tables() {
  table_.release();
  mapped_.release();
  most_keys_ = 0;
}

bool PairFolder::full(Device &device) const {
  return kept_text_ + kept_.slots() * sizeof(Pair) > device.free_memory() / kFullShare;
}

void PairFolder::clear_table(GpuContext &context, FoldMemory &memory, uint64_t places, uint64_t spill, const FoldForm &form) {
  memory.places = places;
  memory.ids.reserve(places + spill);
  memory.values.reserve((places + spill) * form.value.count);
  context.kernels.run("hd_fold_clear", FoldClearArgs{memory.table(), form}, places);
}

TaskFold PairFolder::begin_map(GpuContext &context, const FoldSpec &spec, uint64_t threads, uint64_t text_bytes) {
  const uint64_t given = context.options.fold_places;
  const uint64_t first = given ? std::bit_ceil(given) : std::clamp(std::bit_ceil(text_bytes / kBytesPerKey), kLeastPlaces, kFirstPlaces);
  const uint64_t places = most_keys_ ? map_places(most_keys_) : first, spill = threads * kBlockPlaces;
  clear_table(context, mapped_, places, spill, spec.form);
  context.device.fill(map_words_.reserve(1), 0, sizeof(MapFoldWords));
  const uint64_t longest = std::min<uint64_t>(spec.longest_line, UINT32_MAX - 1) + 1;
  return {mapped_.ids.data(), mapped_.values.data(), map_words_.data(), spill, uint32_t(places - 1), uint32_t(longest)};
}

FoldWords PairFolder::fold_into_table(GpuContext &context, const DeviceStore &store, const FoldSpec &spec,
                                      const MapFoldWords &mapped) {
  if (mapped.distinct + mapped.spilled) {
    const FoldMergeArgs merged{store.arena(), store.pairs(), table_.table(), words_.data(), mapped_.ids.data(),
                               mapped_.values.data(), mapped_.places + mapped.spilled, spec.form};
    context.kernels.run("hd_fold_merge", merged, merged.count);
  }
  const FoldArgs arguments{store.arena(), store.pairs(), table_.table(), words_.data(), spec.longest_line,
                           spec.check.key_max, spec.check.none, spec.check.has_none, KeyReader(spec.check.key),
                           spec.form, store.slots(), 0};
  context.kernels.run(kernel_of(spec.form), arguments, store.slots(), kShape);
  return context.fetch(words_.data());
}

FoldedPairs PairFolder::fold(GpuContext &context, const DeviceStore &store, const FoldSpec &spec, bool is_mapped) {
  const MapFoldWords mapped = is_mapped ? context.fetch(map_words_.data()) : MapFoldWords{};
  if (is_mapped && mapped.lines + mapped.spilled == 0) {
    found_ = &mapped_;
    most_keys_ = std::max<uint64_t>(most_keys_, mapped.distinct);
    distinct_ = uint32_t(mapped.distinct);
    return {mapped.pairs, mapped.bytes, 0, 0, mapped.pairs, distinct_, false};
  }
  const uint64_t slots = store.slots(), most = slots + mapped.distinct + mapped.spilled;
  const uint64_t given = context.options.fold_places;
  const uint64_t first = given ? std::bit_ceil(given) : std::clamp(std::bit_ceil(2 * most), kLeastPlaces, kFirstPlaces);
  // A table that had to grow stays as large for stores that can fill it.
  for (uint64_t places = std::max(first, most > table_.places / 4 ? table_.places : 0);; places *= 4) {
    if (places > kMostPlaces) throw OutOfDeviceMemory{places * (1 + spec.form.value.count) * sizeof(uint64_t)};
    context.task.cancel.check();
    const FoldWords words = context.stage(HD_STAGE_SORT, [&] {
      clear_table(context, table_, places, 0, spec.form);
      context.device.fill(words_.reserve(1), 0, sizeof(FoldWords));
      return fold_into_table(context, store, spec, mapped);
    });
    found_ = &table_;
    distinct_ = uint32_t(words.distinct);
    if (!words.overflow) {
      if (is_mapped) most_keys_ = std::max<uint64_t>(most_keys_, words.distinct);
      const bool grows = is_mapped && mapped.distinct > mapped_.places / 2 && map_places(most_keys_) > mapped_.places;
      const uint64_t pairs = words.pairs + mapped.pairs;
      const bool hardly_repeat = words.distinct > pairs / 2;
      return {pairs, words.bytes + mapped.bytes, words.unreadable, words.errors, mapped.pairs, words.distinct,
              is_mapped && words.pairs > mapped.pairs && (hardly_repeat || !grows)};
    }
    ++context.stats.retries;
  }
}

// A line for each key in the table behind the lines and the text that `to` has.
void PairFolder::write_lines(GpuContext &context, const DeviceStore &from, const FoldSpec &spec, DeviceStore &to,
                             uint64_t text) {
  const uint32_t n = distinct_, first = to.slots();
  const uint64_t places = found_->places;
  if (n == 0) return;
  context.stage(HD_STAGE_GATHER, [&] {
    context.kernels.run("hd_fold_flags", FoldFlagsArgs{found_->ids.data(), flags_.reserve(places), places}, places);
    context.device.select(flags_.data(), chosen_.reserve(n), places);
    FoldLinesArgs lines{from.arena(), from.pairs(), found_->table(), chosen_.data(), sizes_.reserve(n), nullptr, nullptr,
                        nullptr, text, first, n, spec.form};
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
