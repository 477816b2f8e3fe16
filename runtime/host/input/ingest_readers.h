// Threads that read ranges of a file into page-locked memory and begin the copies from there to the device.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/common.h"
#include "device/device_buffer.h"
#include "base/split_file.h"

namespace hd {

constexpr uint32_t kReaderSlots = 2;  // parts of the memory that each thread has

// A range of a file that becomes text on the device. All of it outlives the job.
struct ReadJob {
  const SplitFile *file;
  uint64_t at, size;
  char *to;       // the device's memory
  uint32_t lane;  // of the copies; one job at a time in each
  Cancel cancel;
};

// The threads and their memory stay from task to task. Each has two parts of the memory, and reads into one
// while the other is copied from. Jobs are read in the order in which they were begun. Calls from one thread at a time.
class Readers {
 public:
  // `piece`: bytes of a read and a copy, at most. Throws OutOfDeviceMemory where there is no host memory for the transfers.
  Readers(Device &device, uint32_t threads, uint64_t piece);
  ~Readers();
  Readers(const Readers &) = delete;
  Readers &operator=(const Readers &) = delete;

  uint32_t threads() const { return uint32_t(threads_.size()); }
  uint64_t piece() const { return piece_; }
  void begin(const ReadJob &job);
  // Waits until the lane's job has been read and all its copies have begun. Throws Error kIoError and kCancelled (readers
  // look before each piece), and what the device throws.
  void finish(uint32_t lane);
  // Gives all jobs up and waits until nothing is read or copied any more.
  void stop() noexcept;

 private:
  struct Progress {
    ReadJob job{};
    uint64_t piece = 0, taken = 0, done = 0;  // bytes
  };
  struct Piece {
    ReadJob job;
    uint64_t from, size;
  };

  void work(uint32_t number);
  bool take(Piece &piece);
  void read(const Piece &piece, uint32_t slot);
  void fail(std::exception_ptr failure);

  Device &device_;
  const uint64_t piece_;
  HostBuffer<char> ring_;
  std::mutex lock_;
  std::condition_variable work_, done_;
  Progress lanes_[kCopyLanes];
  std::deque<uint32_t> queue_;  // lanes whose job has pieces that nobody has taken
  uint32_t reading_ = 0;        // threads that have taken a piece
  std::exception_ptr failure_;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace hd
