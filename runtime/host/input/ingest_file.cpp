#include "input/ingest_file.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "base/cores.h"

namespace hd {
namespace {

// Measured on H100 hosts: with 10 to 12 readers the link is nearly full; fewer do not feed it, more are no better.
constexpr uint32_t kMostThreads = 12, kSpareCores = 2;
// Larger pieces copy faster, as long as what has been read is still in the cache when it is copied.
constexpr uint64_t kLargePiece = 2 << 20, kSmallPiece = 1 << 20, kUsualCache = 32 << 20;

uint64_t last_level_cache() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  uint64_t n = 0;
  char unit = 0;
  if (!(file >> n >> unit) || n == 0) return kUsualCache;
  return unit == 'K' ? n << 10 : unit == 'M' ? n << 20 : n;
}

uint32_t threads_of(const IngestOptions &options) {
  const uint32_t cores = usable_cores();
  return options.threads ? options.threads : std::clamp(cores - std::min(cores, kSpareCores), 1u, kMostThreads);
}

uint64_t piece_of(const IngestOptions &options, uint32_t threads) {
  if (options.piece) return options.piece;
  const uint64_t slots = uint64_t(std::max(options.workers, 1u)) * threads * kReaderSlots;
  return slots * kLargePiece <= last_level_cache() ? kLargePiece : kSmallPiece;
}

Readers &readers_of(IngestRoom &room, const IngestOptions &options) {
  const uint32_t threads = threads_of(options);
  const uint64_t piece = piece_of(options, threads);
  if (!room.readers || room.wanted_threads != threads || room.readers->piece() != piece) {
    room.readers.reset();
    room.readers = std::make_unique<Readers>(room.device, threads, piece);
    room.wanted_threads = threads;
  }
  return *room.readers;
}

}  // namespace

FileIngest::FileIngest(IngestRoom &room, const RecordOptions &records, const IngestOptions &options, const Cancel &cancel)
    : room_(room), records_(records), keeper_(room.device, room.kept, records_, options.keep_percent),
      file_(records.path, records.start, records.length), cuts_(file_, records.delimiter.empty(), cancel),
      cancel_(cancel), delimiter_(records.delimiter.empty() ? -1 : '\n'),
      longest_(records.longest), target_(std::clamp<uint64_t>(options.sub_split, 1, kMostSubSplit)),
      first_(options.first ? std::min(options.first, target_) : target_), most_(first_), at_(cuts_.begin()) {
  readers_of(room, options);
  keeper_.begin(cuts_.begin(), cuts_.end());
}

FileIngest::~FileIngest() { room_.readers->stop(); }

void FileIngest::limit(uint64_t bytes) {
  target_ = std::clamp<uint64_t>(bytes, 1, target_);
  first_ = std::min(first_, target_);
  most_ = std::min(most_, target_);
}

// The sub-splits of a split are as long as each other, once they have grown to what is wanted, and shrink at its end,
// where nothing is read beside the kernels any more; none is a small rest.
uint64_t FileIngest::share(uint64_t left) {
  const uint64_t most = most_;
  most_ = std::min(2 * most_, target_);
  if (most < target_) return left <= most + most / 2 ? left : most;
  if (first_ < target_ && left <= 2 * most) return left <= 2 * first_ ? left : (left + 1) / 2;
  const uint64_t rounds = (left + most - 1) / most;
  return (left + rounds - 1) / rounds;
}

// The first records behind `from`.
SubSplit FileIngest::cut(uint64_t from) {
  const uint64_t left = cuts_.end() - from;
  if (left == 0) return {from, 0};
  const SubSplit found{from, cuts_.after(from + std::min(share(left), left) - 1) - from};
  if (longest_ && found.size > longest_) cuts_.check_lengths(found.at, found.at + found.size, longest_);
  return found;
}

SubSplit FileIngest::next() {
  alone_ = false;
  SubSplit next;
  if (ahead_.empty()) {
    next = cut(at_);
  } else {
    next = ahead_.front();
    ahead_.pop_front();
    lane_ = (lane_ + 1) % kCopyLanes;
  }
  at_ = next.at + next.size;
  return next;
}

uint64_t FileIngest::middle(const SubSplit &s) {
  const uint64_t cut = cuts_.middle(s.at, s.at + s.size);
  return cut ? cut - s.at : 0;
}

void FileIngest::begin(uint32_t lane, const SubSplit &s) {
  held_[lane] = {};
  const uint64_t usual = std::min(target_, cuts_.end() - cuts_.begin());
  char *const text = room_.text[lane].reserve(std::max(s.size, usual) + kTextMargin);
  room_.device.begin_copies();
  room_.readers->begin({&file_, s.at, s.size, text, lane, cancel_});
  held_[lane] = s;
}

// Begins to read what follows, into each text that nobody needs; not where the device has no memory for it.
void FileIngest::look_ahead() {
  while (!alone_ && ahead_.size() + 1 < kCopyLanes) {
    const SubSplit next = cut(ahead_.empty() ? at_ : ahead_.back().at + ahead_.back().size);
    if (next.size == 0 || next.size > kMostSubSplit) return;
    try {
      begin((lane_ + uint32_t(ahead_.size()) + 1) % kCopyLanes, next);
      ahead_.push_back(next);
    } catch (const OutOfDeviceMemory &) {
      alone_ = true;
    }
  }
}

void FileIngest::read(const SubSplit &s) {
  if (held_[lane_] != s) begin(lane_, s);
  if (s.at + s.size == at_) look_ahead();
  room_.readers->finish(lane_);
}

DeviceText FileIngest::bring(const SubSplit &s) {
  room_.device.await_copies(lane_);
  char *const text = room_.text[lane_].data();
  room_.device.fill(text + s.size, 0, kTextMargin);
  keeper_.copy(s.at, text, s.size);
  return {text, s.size, delimiter_};
}

void FileIngest::release() {
  room_.readers->stop();
  for (SubSplit &held : held_) held = {};
  ahead_.clear();
  alone_ = true;
  keeper_.drop();
  for (DeviceBuffer<char> &text : room_.text) text.reset();
}

}  // namespace hd
