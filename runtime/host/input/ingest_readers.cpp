#include "input/ingest_readers.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/signals_blocked.h"

namespace hd {
namespace {

constexpr uint64_t kLeastPiece = 1 << 20, kPieceUnit = 64 << 10;

// So that all threads get some of a short job, but no copy becomes slow for being small.
uint64_t piece_of(uint64_t size, uint32_t threads, uint64_t most) {
  const uint64_t share = (size / threads + kPieceUnit) / kPieceUnit * kPieceUnit;
  return std::min(most, std::max(share, kLeastPiece));
}

}  // namespace

Readers::Readers(Device &device, uint32_t threads, uint64_t piece) : device_(device), piece_(piece), ring_(device) {
  ring_.reserve(threads * kReaderSlots * piece, 0);
  device_.open_copies(threads * kReaderSlots);
  const SignalsBlocked blocked;
  threads_.reserve(threads);
  try {
    for (uint32_t i = 0; i < threads; ++i) threads_.emplace_back([this, i] { work(i); });
  } catch (const std::system_error &) {  // fewer do, if there are any
    if (threads_.empty()) throw OutOfDeviceMemory{threads * kReaderSlots * piece};
  }
}

Readers::~Readers() {
  stop();
  {
    const std::lock_guard hold(lock_);
    closing_ = true;
  }
  work_.notify_all();
  for (std::thread &thread : threads_) thread.join();
}

void Readers::begin(const ReadJob &job) {
  {
    const std::lock_guard hold(lock_);
    lanes_[job.lane] = {job, piece_of(job.size, threads(), piece_), 0, 0};
    queue_.push_back(job.lane);
  }
  work_.notify_all();
}

void Readers::finish(uint32_t lane) {
  const Progress &progress = lanes_[lane];
  std::unique_lock hold(lock_);
  done_.wait(hold, [&] { return failure_ || progress.done == progress.job.size; });
  if (failure_) std::rethrow_exception(failure_);
}

void Readers::stop() noexcept {
  std::unique_lock hold(lock_);
  queue_.clear();
  done_.wait(hold, [&] { return reading_ == 0; });
  failure_ = nullptr;
  hold.unlock();
  for (uint32_t slot = 0; slot < threads() * kReaderSlots; ++slot) {
    try {
      device_.finish_copy(slot);
    } catch (...) {  // the device has failed: whoever uses it next hears of it
    }
  }
}

void Readers::work(uint32_t number) {
  for (uint32_t turn = 0;; turn = (turn + 1) % kReaderSlots) {
    const uint32_t slot = number * kReaderSlots + turn;
    Piece piece;
    if (!take(piece)) return;
    std::exception_ptr failure;
    try {
      read(piece, slot);
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure) fail(std::move(failure));  // now it is held here alone: it ends with the task, not in this thread
  }
}

// Waits for a piece to read; false when the reader is to end.
bool Readers::take(Piece &piece) {
  std::unique_lock hold(lock_);
  work_.wait(hold, [&] { return closing_ || !queue_.empty(); });
  if (closing_) return false;
  Progress &progress = lanes_[queue_.front()];
  const uint64_t size = std::min(progress.piece, progress.job.size - progress.taken);
  piece = {progress.job, progress.taken, size};
  progress.taken += size;
  if (progress.taken == progress.job.size) queue_.pop_front();
  ++reading_;
  return true;
}

void Readers::read(const Piece &piece, uint32_t slot) {
  const ReadJob &job = piece.job;
  job.cancel.check();
  device_.finish_copy(slot);
  char *const text = ring_.data() + slot * piece_;
  job.file->read_all(text, piece.size, job.at + piece.from);
  device_.begin_copy(job.lane, slot, job.to + piece.from, text, piece.size);
  const std::lock_guard hold(lock_);
  Progress &progress = lanes_[job.lane];
  progress.done += piece.size;
  if (--reading_ == 0 || progress.done == job.size) done_.notify_all();
}

void Readers::fail(std::exception_ptr failure) {
  const std::lock_guard hold(lock_);
  if (!failure_) failure_ = std::move(failure);
  queue_.clear();
  --reading_;
  done_.notify_all();
}

}  // namespace hd
