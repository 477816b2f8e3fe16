// A task whose combiner is an ordered key loop: each pair's step is done on the device, in the order of the reference, and what
// is kept of the keys stays there until the task's end.
#pragma once
#include <cstdint>
#include <string>

#include "../../device/sink/ordered.h"
#include "steps/combine.h"
#include "launch/context.h"
#include "launch/launch.h"
#include "steps/sort.h"

namespace hd {

struct OrderedSpec {
  std::string module;      // the combine kernel's
  uint32_t values = 0;     // numbers of a pair's value
  uint32_t states = 0;     // variables that are kept of a key
  uint64_t longest_line = UINT64_MAX;  // of the map
  uint64_t longest_output = UINT64_MAX;
};

// The device's memory that sub-splits use one after the other.
struct OrderedRoom {
  PairOrder order;  // of the pairs, by their places in what was collected
  DeviceBuffer<uint64_t> keys, other_keys, offset;
  DeviceBuffer<uint32_t> places, new_slots, new_places, values, other_values, starts, chosen, sizes;
  DeviceBuffer<char> columns, sorted_columns;
  DeviceBuffer<uint8_t> flags;
  explicit OrderedRoom(Device &device)
      : order(device), keys(device), other_keys(device), offset(device), places(device), new_slots(device),
        new_places(device), values(device), other_values(device), starts(device), chosen(device), sizes(device), columns(device),
        sorted_columns(device), flags(device) {}
};

class OrderedCombiner {
 public:
  explicit OrderedCombiner(Device &device);
  void begin_task();  // nothing is kept
  // Does the steps of the pairs in `order`, which need not be in sequence. Returns their bytes as Hadoop counts them. Throws
  // Error kRunOnCpu where a pair does not read back or a step fails (`first_record`: the number of the first one, from 1 on),
  // kRetryNoFold where there are too many keys, OutOfDeviceMemory: then nothing has happened.
  uint64_t add(GpuContext &context, const OrderedSpec &spec, const DeviceStore &store, const PairOrder &order,
               OrderedRoom &room, uint64_t first_record);
  // A line for each key that prints one, in no order; valid until the next call. Throws Error kRunOnCpu, OutOfDeviceMemory.
  OrderedPairs lines(GpuContext &context, const OrderedSpec &spec);
  void release_tables();  // where nothing is kept

 private:
  struct Numbered {
    uint32_t keys;
    uint64_t bytes;
  };
  Numbered read(GpuContext &context, RuntimeKernels &kernels, const OrderedSpec &spec, const DeviceStore &store,
                const PairOrder &order, OrderedRoom &room, uint64_t first_record);
  void rebuild(GpuContext &context, uint64_t places);
  SortBuffers sort(GpuContext &context, const DeviceStore &store, const PairOrder &order, OrderedRoom &room, uint32_t keys);
  struct Runs {
    uint32_t all = 0, longs = 0;
  };
  Runs find_runs(GpuContext &context, const SortBuffers &sorted, uint32_t count, uint32_t item_bits, OrderedRoom &room);
  void keep(GpuContext &context, const DeviceStore &store, OrderedRoom &room, uint32_t keys);
  void reserve_keys(GpuContext &context, const OrderedSpec &spec, uint64_t text, uint32_t keys);
  KeyTable table() { return {table_.data(), numbers_.data(), uint32_t(places_ - 1), 0}; }
  KeptKeys kept() { return {text_.data(), at_.data(), length_.data(), known_, 0}; }

  DeviceBuffer<unsigned long long> table_;
  DeviceBuffer<uint32_t> numbers_, length_, sizes_;
  DeviceBuffer<uint64_t> at_, offset_;
  DeviceBuffer<char> text_, states_;
  DeviceBuffer<OrderedWords> words_;
  DeviceBuffer<uint8_t> flags_;
  DeviceStore lines_;
  PairOrder line_order_;
  uint64_t places_ = 0, text_bytes_ = 0;
  uint32_t known_ = 0;
  bool stale_ = true;  // the table has other keys than those that are kept
};

}  // namespace hd
