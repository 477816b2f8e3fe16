// Brings pairs back from the device, put together in their order.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "../../device/steps/abi.h"
#include "launch/context.h"
#include "launch/launch.h"
#include "output/room.h"
#include "steps/sort.h"

namespace hd {

// Pairs in the host's memory, in order. Line i is pairs[i]'s key, a tab, its value, a newline; lines follow each other.
struct HostPairs {
  std::string_view text;
  const Pair *pairs = nullptr;           // of these, the lengths and the partition
  const uint32_t *partitions = nullptr;  // ascending; null where nobody asked
  uint64_t count = 0;
};

// A text in the device's memory.
struct DeviceLines {
  const char *text = nullptr;
  uint64_t bytes = 0;
};

// Walks over pairs; `Cursor` of TextSource (text_lines.h) too.
class HostPairCursor {
 public:
  explicit HostPairCursor(const HostPairs &pairs) : pairs_(pairs), at_(pairs.text.data()) {}
  bool ended() const { return index_ == pairs_.count; }
  uint32_t partition() const { return pairs_.partitions[index_]; }
  void next(std::string_view &key, std::string_view &value) {
    const Pair &p = pairs_.pairs[index_++];
    key = {at_, p.key_length};
    value = {at_ + p.key_length + 1, p.length > p.key_length ? p.length - p.key_length - 1 : 0};
    at_ = value.data() + value.size() + 1;
  }

 private:
  const HostPairs &pairs_;
  const char *at_;
  uint64_t index_ = 0;
};

class PairGather {
 public:
  explicit PairGather(Device &device);
  // The pairs with their text; their partitions if `partitions` (in the device's memory) is not null. Valid until the
  // next call.
  HostPairs pairs(GpuContext &context, const DeviceStore &store, const PairOrder &order, const uint32_t *partitions);
  // Their text alone, which stays on the device: lines as above, in the room's text.
  DeviceLines lines(GpuContext &context, const DeviceStore &store, const PairOrder &order, OutputRoom &room);
  // The same of stderr text, without line ends and tabs of ours.
  std::string errors(GpuContext &context, const DeviceStore &store, const PairOrder &order);

 private:
  // `room`(bytes) gives the device's memory that the text comes to.
  template <class Room>
  DeviceLines format(GpuContext &context, const DeviceStore &store, const PairOrder &order, bool raw, Room room);
  std::string_view text(GpuContext &context, const DeviceStore &store, const PairOrder &order, bool raw);
  void lengths(GpuContext &context, const DeviceStore &store, const PairOrder &order, const uint32_t *partitions);

  DeviceBuffer<uint32_t> sizes_;
  DeviceBuffer<uint64_t> offset_;
  DeviceBuffer<char> text_;
  DeviceBuffer<Pair> pairs_;
  HostBuffer<char> host_text_;
  HostBuffer<Pair> host_pairs_;
  HostBuffer<uint32_t> host_partitions_;
};

}  // namespace hd
