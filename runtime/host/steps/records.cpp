#include "steps/records.h"

#include <algorithm>

namespace hd {
namespace {

constexpr uint64_t kShortRecord = 22;   // bytes of text for each record, up to which two lanes copy it at once
constexpr uint64_t kMostOrdered = 1 << 20;  // records; with more, every thread has many and none is late by much

}  // namespace

DeviceRecords::DeviceRecords(Device &device)
    : staged_(device), counts_(device), last_(device), length_(device), order_(device), other_order_(device), first_(device),
      offset_(device), slot_(device), keys_(device), other_keys_(device), longs_(device) {}

void DeviceRecords::release() {
  Device *const device = staged_.device();
  *this = DeviceRecords(*device);
}

void DeviceRecords::load(GpuContext &context, const DeviceText &text) {
  text_ = text;
  context.stage(HD_STAGE_INDEX, [&] { index(context); });
}

void DeviceRecords::index(GpuContext &context) {
  const uint64_t tiles = (text_.size + index_tile - 1) / index_tile;
  const IndexText in{text_.data, text_.size, 0, text_.delimiter, 1};
  struct Found {
    uint64_t records, empty;  // as they lie behind each other
  };
  uint64_t *const first = first_.reserve(tiles + 2), *const found = first + tiles;
  context.device.fill(found + 1, 0, sizeof *found);
  const uint64_t threads = tiles * index_threads;  // a block for each tile
  context.kernels.run("hd_index_count", IndexCountArgs{in, counts_.reserve(tiles), last_.reserve(tiles),
                                                       reinterpret_cast<unsigned long long *>(found + 1)}, threads);
  context.device.scan(counts_.data(), first, tiles);
  const Found numbers = context.fetch(reinterpret_cast<const Found *>(found));
  count_ = uint32_t(numbers.records);
  empty_ = numbers.empty;
  context.device.fill(longs_.reserve(1), 0, sizeof(LongRecords));
  const IndexRecordsArgs records{in, first, last_.data(), offset_.reserve(count_), length_.reserve(count_), slot_.reserve(count_), longs_.data()};
  context.kernels.run("hd_index_records", records, threads);
}

std::vector<LongRecord> DeviceRecords::few_long(GpuContext &context) const {
  if (empty_ < long_record / index_tile - 1) return {};  // each of them has so many tiles to itself
  const LongRecords found = context.fetch(longs_.data());
  if (found.count > most_long) return {};
  std::vector<LongRecord> records(found.record, found.record + found.count);
  std::sort(records.begin(), records.end(), [](const LongRecord &a, const LongRecord &b) { return a.start < b.start; });
  return records;
}

RecordTable DeviceRecords::stage(GpuContext &context) {
  return context.stage(HD_STAGE_STAGE, [&] {
    const uint64_t bytes = text_.size + 1 + slot_spread * count_;
    const StageRecordsArgs copy{text_.data, offset_.data(), length_.data(), staged_.reserve(bytes),
                                slot_.data(), count_, text_.size > kShortRecord * count_ ? 2u : 1u};
    context.kernels.run("hd_stage_records", copy, count_);
    return RecordTable{staged_.data(), slot_.data(), length_.data(), count_};
  });
}

const uint32_t *DeviceRecords::longest_first(GpuContext &context, bool slow) {
  if (count_ > kMostOrdered && !slow) return nullptr;
  return context.stage(HD_STAGE_STAGE, [&] {
    SortBuffers sorted{keys_.reserve(count_), other_keys_.reserve(count_), order_.reserve(count_),
                       other_order_.reserve(count_)};
    context.kernels.run("hd_length_keys", LengthKeysArgs{length_.data(), nullptr, sorted.keys, count_, 0}, count_);
    context.kernels.run("hd_iota", MoveArgs{nullptr, nullptr, sorted.values, count_, 0}, count_);
    context.device.sort(sorted, count_, 0, 32);
    return static_cast<const uint32_t *>(sorted.values);
  });
}

}  // namespace hd
