#include "output/writers.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/signals_blocked.h"

namespace hd {

Writers::Writers(Device &device, uint32_t threads, uint64_t piece) : device_(device), piece_(piece), memory_(device) {
  memory_.reserve(threads * piece, 0);
  device_.open_copies_out(threads);
  const SignalsBlocked blocked;
  threads_.reserve(threads);
  try {
    for (uint32_t i = 0; i < threads; ++i) threads_.emplace_back([this, i] { work(i); });
  } catch (const std::system_error &) {  // fewer do, if there are any
    if (threads_.empty()) throw OutOfDeviceMemory{threads * piece};
  }
}

Writers::~Writers() {
  stop();
  {
    const std::lock_guard hold(lock_);
    closing_ = true;
  }
  work_.notify_all();
  for (std::thread &thread : threads_) thread.join();
}

void Writers::begin(uint32_t lane, WriteJob job) {
  const uint64_t size = job.to->bytes();
  if (size == 0) return;
  device_.begin_copies_out();
  {
    const std::lock_guard hold(lock_);
    if (failure_) return;  // finish() tells it
    lanes_[lane] = {std::move(job), size, 0, 0};
    queue_.push_back(lane);
  }
  work_.notify_all();
}

void Writers::finish(uint32_t lane) {
  std::unique_lock hold(lock_);
  Progress &progress = lanes_[lane];
  done_.wait(hold, [&] { return (failure_ && writing_ == 0) || (!failure_ && progress.done == progress.size); });
  if (!failure_) {
    progress = {};
    return;
  }
  const std::exception_ptr failure = std::exchange(failure_, nullptr);
  give_up();
  hold.unlock();
  std::rethrow_exception(failure);
}

void Writers::stop() noexcept {
  std::unique_lock hold(lock_);
  queue_.clear();
  done_.wait(hold, [&] { return writing_ == 0; });
  failure_ = nullptr;
  give_up();
}

void Writers::give_up() noexcept {
  for (Progress &progress : lanes_) progress = {};
}

void Writers::work(uint32_t slot) {
  for (Piece piece; take(piece);) {
    std::exception_ptr failure;
    try {
      write(piece, slot);
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure) fail(std::move(failure));  // now it is held there alone: it ends with the task, not in this thread
    else done(piece);
  }
}

// Waits for a piece to write; false when the thread is to end.
bool Writers::take(Piece &piece) {
  std::unique_lock hold(lock_);
  work_.wait(hold, [&] { return closing_ || !queue_.empty(); });
  if (closing_) return false;
  Progress &progress = lanes_[queue_.front()];
  piece = {queue_.front(), progress.taken, std::min(piece_, progress.size - progress.taken)};
  progress.taken += piece.size;
  if (progress.taken == progress.size) queue_.pop_front();
  ++writing_;
  return true;
}

// The job stays as it is until its pieces are done.
void Writers::write(const Piece &piece, uint32_t slot) {
  write_piece(lanes_[piece.lane].job, piece.from, piece.size, memory_.data() + slot * piece_,
              [&](char *to, const char *from, uint64_t n) { device_.copy_out(slot, to, from, n); });
}

void Writers::done(const Piece &piece) {
  std::shared_ptr<FileRange> ended;
  {
    const std::lock_guard hold(lock_);
    Progress &progress = lanes_[piece.lane];
    progress.done += piece.size;
    if (progress.done == progress.size) ended = std::move(progress.job.to);
    --writing_;
  }
  ended.reset();  // its mapping ends in this thread
  done_.notify_all();
}

void Writers::fail(std::exception_ptr failure) {
  const std::lock_guard hold(lock_);
  if (!failure_) failure_ = std::move(failure);
  queue_.clear();
  --writing_;
  done_.notify_all();
}

}  // namespace hd
