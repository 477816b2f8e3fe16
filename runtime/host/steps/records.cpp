#include "steps/records.h"

#include "../../device/steps/kernels.h"

namespace hd {
namespace {

constexpr uint64_t kShortSlot = 32;     // bytes of a staged record that two lanes copy at once
constexpr uint64_t kMostOrdered = 1 << 20;  // records; with more, every thread has many and none is late by much

}  // namespace

DeviceRecords::DeviceRecords(Device &device)
    : staged_(device), counts_(device), length_(device), sizes_(device), order_(device),
      other_order_(device), first_(device), ends_(device), offset_(device), staged_offset_(device), keys_(device),
      other_keys_(device) {}

void DeviceRecords::release() {
  Device *const device = staged_.device();
  *this = DeviceRecords(*device);
}

void DeviceRecords::load(GpuContext &context, const DeviceText &text) {
  text_ = text;
  context.stage(HD_STAGE_INDEX, [&] { index(context); });
  context.stage(HD_STAGE_STAGE, [&] { plan_staging(context); });
}

void DeviceRecords::index(GpuContext &context) {
  const uint64_t tiles = (text_.size + index_tile - 1) / index_tile;
  const IndexText in{text_.data, text_.size, 0, text_.delimiter, 1};
  uint64_t *const first = first_.reserve(tiles + 1);
  context.kernels.run("hd_index_count", IndexCountArgs{in, counts_.reserve(tiles)}, tiles);
  context.device.scan(counts_.data(), first, tiles);
  count_ = uint32_t(context.fetch(first + tiles));
  context.kernels.run("hd_index_ends", IndexEndsArgs{in, first, ends_.reserve(count_)}, tiles);
  const IndexRecordsArgs records{in, ends_.data(), offset_.reserve(count_), length_.reserve(count_), count_, 0};
  context.kernels.run("hd_index_records", records, count_);
}

void DeviceRecords::plan_staging(GpuContext &context) {
  const StageRecordsArgs sizes{text_.data, offset_.data(), length_.data(), sizes_.reserve(count_), nullptr, nullptr,
                               count_, 0};
  context.kernels.run("hd_stage_record_sizes", sizes, count_);
  context.device.scan(sizes_.data(), staged_offset_.reserve(uint64_t(count_) + 1), count_);
  staged_bytes_ = context.fetch(staged_offset_.data() + count_);
}

RecordTable DeviceRecords::stage(GpuContext &context) {
  return context.stage(HD_STAGE_STAGE, [&] {
    const StageRecordsArgs copy{text_.data, offset_.data(),        length_.data(), nullptr, staged_.reserve(staged_bytes_),
                                staged_offset_.data(), count_, staged_bytes_ > kShortSlot * count_ ? 2u : 1u};
    context.kernels.run("hd_stage_records", copy, count_);
    return RecordTable{staged_.data(), staged_offset_.data(), length_.data(), count_};
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
