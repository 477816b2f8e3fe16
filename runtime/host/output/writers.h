// Threads that bring text from the device into page-locked memory and write it to its place in a file.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/common.h"
#include "base/file_range.h"
#include "device/device_buffer.h"
#include "output/segments.h"

namespace hd {

constexpr uint32_t kTextLanes = 2;  // texts of the device: one on its way to a file, one that kernels write

// A text on the device that becomes a range of a file.
struct WriteJob {
  const char *from = nullptr;             // the device's memory
  std::shared_ptr<FileRange> to;          // of as many bytes as the text, or as the segments
  std::shared_ptr<RunSegments> segments;  // null: the text as it is
  Cancel cancel{};
};

// The threads and their memory stay from task to task. Each takes a piece of the oldest job, brings it and writes it. Calls from
// one thread at a time.
class Writers {
 public:
  // `piece`: bytes of a copy and a write, at most. Throws OutOfDeviceMemory where there is no host memory for the transfers.
  Writers(Device &device, uint32_t threads, uint64_t piece);
  ~Writers();
  Writers(const Writers &) = delete;
  Writers &operator=(const Writers &) = delete;

  uint64_t piece() const { return piece_; }
  // The lane's job before is finished. Launches so far come before the copies.
  void begin(uint32_t lane, WriteJob job);
  // Waits until the lane's job is in its file. Throws Error kIoError and kCancelled (looked for before each piece), and what
  // the device throws: of any job, once; then all jobs have been given up.
  void finish(uint32_t lane);
  // Gives all jobs up and waits until nothing is copied or written any more.
  void stop() noexcept;

 private:
  struct Progress {
    WriteJob job;
    uint64_t size = 0, taken = 0, done = 0;  // bytes of the file
  };
  struct Piece {
    uint32_t lane;
    uint64_t from, size;
  };

  uint32_t slots() const { return uint32_t(threads_.size()); }
  void work(uint32_t slot);
  bool take(Piece &piece);
  void write(const Piece &piece, uint32_t slot);
  void done(const Piece &piece);
  void fail(std::exception_ptr failure);
  void give_up() noexcept;

  Device &device_;
  const uint64_t piece_;
  HostBuffer<char> memory_;
  std::mutex lock_;
  std::condition_variable work_, done_;
  Progress lanes_[kTextLanes];
  std::deque<uint32_t> queue_;  // lanes whose job has pieces that nobody has taken
  uint32_t writing_ = 0;        // threads that have taken a piece
  std::exception_ptr failure_;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

// One piece of a job: [from, from + n) of the file, through n bytes of host memory at `room`. copy_out(to, from, bytes)
// brings bytes of the device.
template <class CopyOut>
void write_piece(const WriteJob &job, uint64_t from, uint64_t n, char *room, CopyOut copy_out) {
  job.cancel.check();
  const RunSegments *const segments = job.segments.get();
  const uint64_t begin = segments ? segments->data_before(from) : from;
  const uint64_t bytes = (segments ? segments->data_before(from + n) : from + n) - begin;
  if (bytes > 0) copy_out(room + (n - bytes), job.from + begin, bytes);
  if (segments) job.segments->place(room, from, n);
  job.to->write(room, n, from);
}

}  // namespace hd
