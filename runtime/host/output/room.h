// What a device's output goes through: two texts in its memory, and the writers.
#pragma once
#include <cstdint>
#include <memory>

#include "output/writers.h"

namespace hd {

// How to write; 0 = chosen.
struct WriteOptions {
  uint32_t threads = 0;
  uint64_t piece = 0;     // bytes of a copy and a write
  uint32_t sessions = 0;  // tasks that a device has at a time
};

// Stays from task to task. Calls from one thread.
class OutputRoom {
 public:
  explicit OutputRoom(Device &device) : device_(device), text_{DeviceBuffer<char>(device), DeviceBuffer<char>(device)}, near_(device) {}
  void begin_task(const WriteOptions &options);
  // Waits until the text before the last one is in its file, so that the next one can be made. Throws as finish().
  void turn();
  // Room for the next text, n bytes of the device's memory; what begin() needs is there then, too. Throws OutOfDeviceMemory, and as finish().
  char *text(uint64_t n);
  // Writes what text() gave last. Small texts are in their file on return.
  void begin(WriteJob job);
  // Waits until all is in its file. Throws as Writers::finish.
  void finish();
  void stop() noexcept;  // as Writers::stop
  void release();        // finishes, and gives the device's memory back
  uint64_t piece() const { return piece_; }
  bool many_threads() const;  // FileRange has another way for these

 private:
  uint64_t small() const;
  void start_writers();

  Device &device_;
  DeviceBuffer<char> text_[kTextLanes];
  HostBuffer<char> near_;  // a piece, for small texts
  std::unique_ptr<Writers> writers_;
  uint64_t piece_ = 0;
  uint32_t threads_ = 0, lane_ = 0;
  bool alone_ = false;     // there is no memory or thread for writers
};

}  // namespace hd
