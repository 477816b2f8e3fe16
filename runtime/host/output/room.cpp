#include "output/room.h"

#include <algorithm>
#include <utility>

#include "base/cores.h"

namespace hd {
namespace {

// Of all tasks that a device has at a time. With eight, a file took five times as long on a host with 16 cores (decision 0028).
constexpr uint32_t kMostThreads = 8, kMostOfTask = 4;
constexpr uint32_t kMany = 4;
constexpr uint64_t kPiece = 1 << 20;   // of all writers together less than a processor's cache
constexpr uint64_t kSmall = 256 << 10; // to hand less to a thread costs as much as to write it

}  // namespace

void OutputRoom::begin_task(const WriteOptions &options) {
  const uint32_t all = std::min(usable_cores() / 2, kMostThreads);
  const uint32_t threads = options.threads ? options.threads : std::clamp(all / std::max(options.sessions, 1u), 1u, kMostOfTask);
  const uint64_t piece = options.piece ? options.piece : kPiece;
  if (threads != threads_ || piece != piece_) writers_.reset(), near_.reset();
  threads_ = threads;
  piece_ = piece;
  alone_ = false;
}

uint64_t OutputRoom::small() const { return std::min(kSmall, piece_); }

bool OutputRoom::many_threads() const { return threads_ >= kMany; }

void OutputRoom::turn() {
  lane_ = (lane_ + 1) % kTextLanes;
  if (writers_) writers_->finish(lane_);
}

char *OutputRoom::text(uint64_t n) {
  near_.reserve(piece_, 0);
  if (n > small()) start_writers();
  try {
    return text_[lane_].reserve(n);
  } catch (const OutOfDeviceMemory &) {
    release();  // the other text
  }
  return text_[lane_].reserve(n);
}

void OutputRoom::start_writers() {
  if (writers_ || alone_) return;
  try {
    writers_ = std::make_unique<Writers>(device_, threads_, piece_);
  } catch (const OutOfDeviceMemory &) {
    alone_ = true;
  }
}

void OutputRoom::begin(WriteJob job) {
  const uint64_t bytes = job.to->bytes();
  if (writers_ && bytes > small()) return writers_->begin(lane_, std::move(job));
  for (uint64_t at = 0, n; at < bytes; at += n) {
    n = std::min(piece_, bytes - at);
    write_piece(job, at, n, near_.data(), [&](char *to, const char *from, uint64_t size) { device_.download(to, from, size); });
  }
}

void OutputRoom::finish() {
  for (uint32_t lane = 0; writers_ && lane < kTextLanes; ++lane) writers_->finish(lane);
}

void OutputRoom::stop() noexcept {
  if (writers_) writers_->stop();
}

void OutputRoom::release() {
  finish();
  for (DeviceBuffer<char> &text : text_) text.reset();
}

}  // namespace hd
