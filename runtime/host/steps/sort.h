// Orders of the pairs in a store: of the sequential program, then of partition and key. Pairs stay where they are.
#pragma once
#include <cstdint>

#include "../../device/steps/abi.h"
#include "launch/context.h"
#include "launch/launch.h"

namespace hd {

// Some slots of a store in an order, in the device's memory, with the room to sort them.
class PairOrder {
 public:
  explicit PairOrder(Device &device) : order_(device), other_order_(device), keys_(device), other_keys_(device) {}
  uint32_t *reserve(uint64_t n) { return order_.reserve(n); }
  const uint32_t *data() const { return order_.data(); }
  uint32_t count = 0;
  uint32_t largest_sequence = 0, largest_item = 0;  // of the slots, as PairSorter::collect found them
  // Sorts by keys that `fill(order, keys)` computes, on their bits [begin, end).
  template <class Fill>
  void sort(Device &device, Fill fill, int begin, int end) {
    if (begin >= end || count < 2) return;
    SortBuffers b{keys_.reserve(count), other_keys_.reserve(count), order_.data(), other_order_.reserve(count)};
    fill(b.values, b.keys);
    device.sort(b, count, begin, end);
    if (b.values != order_.data()) std::swap(order_, other_order_);
  }
  // `move(from, to)` writes the slots in another order.
  template <class Move>
  void rearrange(Move move) {
    move(order_.data(), other_order_.reserve(count));
    std::swap(order_, other_order_);
  }

 private:
  DeviceBuffer<uint32_t> order_, other_order_;
  DeviceBuffer<uint64_t> keys_, other_keys_;
};

// What a store's slots hold: PairFlagsArgs::stream.
enum class Stream : uint32_t { pairs = 0, errors = 1 };

class PairSorter {
 public:
  explicit PairSorter(Device &device);
  // `order` becomes the slots of `stream`, in whatever order.
  void collect(GpuContext &context, const DeviceStore &store, Stream stream, PairOrder &order);
  // Sorts what was collected as the sequential program writes it: by item and sequence.
  void in_sequence(GpuContext &context, const DeviceStore &store, PairOrder &order);
  // Sorts what was collected by partition (of `reducers`), then by the bytes of the key, then as in_sequence. `unique`:
  // no key is there twice.
  void by_key(GpuContext &context, const DeviceStore &store, uint32_t reducers, PairOrder &order, bool unique = false);
  // The partition of each pair, in `order`.
  const uint32_t *partitions(GpuContext &context, const DeviceStore &store, uint32_t reducers, const PairOrder &order);

 private:
  struct Level;
  void select_slots(GpuContext &context, const DeviceStore &store, Stream stream, PairOrder &order);
  void scan_areas(GpuContext &context, const DeviceStore &store, Stream stream, PairOrder &order);
  void merge_sort(GpuContext &context, const DeviceStore &store, PairOrder &order);
  void radix_sort(GpuContext &context, const DeviceStore &store, uint32_t reducers, PairOrder &order);
  void sort_level(GpuContext &context, const DeviceStore &store, PairOrder &order, uint32_t position, uint64_t segments);
  uint32_t find_ties(GpuContext &context, const DeviceStore &store, const Level &level);

  DeviceBuffer<uint8_t> flags_;
  DeviceBuffer<uint32_t> segment_, start_, chosen_, gathered_;
  DeviceBuffer<uint64_t> rank_;
  PairOrder ties_, other_ties_;
  DeviceBuffer<uint32_t> places_, other_places_;
};

}  // namespace hd
