// Cuts a split into pieces of whole records, one for each round of a task on a device.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "device/device_buffer.h"
#include "input/records.h"

namespace hd {

// Text as a filter's stdin has it: whatever ended a record, each line ends in one \n, the last one too (records.h has
// the rules of splits). A record of a custom delimiter may hold several lines: each of them is a record to the kernels,
// as it is to a C program that reads its stdin.
class SubSplits {
 public:
  SubSplits(const RecordOptions &options, Device &device, const Cancel &cancel);

  // The next lines: `target` bytes at most, or one line that is longer. Empty at the end. Valid until the next call.
  // Throws what RecordSource throws, and OutOfDeviceMemory where the host has no memory for a line.
  std::string_view next(uint64_t target);
  // Nothing follows what next() has given.
  bool ended() const { return source_ended_ && begin_ == size_; }
  uint64_t records() const { return records_.records(); }  // of what has been read, which may be ahead of next()
  uint64_t bytes() const { return records_.bytes(); }

 private:
  bool fill(uint64_t target);
  void append(std::string_view piece);
  std::string_view take(uint64_t n);

  RecordSource records_;
  HostBuffer<char> buffer_, other_;
  uint64_t begin_ = 0, size_ = 0;  // not given out yet: buffer_[begin_, size_)
  bool source_ended_ = false;
};

// Where to cut `lines` in two parts of whole lines that are about as long as each other; 0: it is one line.
size_t middle_line(std::string_view lines);

}  // namespace hd
