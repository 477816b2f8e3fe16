#include "input/kept_texts.h"

#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "input/ingest.h"

namespace hd {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
// A change shows in a file's times if these are older than the clock's step, of file systems that have whole seconds two of those.
constexpr int64_t kClockStep = 20'000'000, kCoarseClockStep = 2 * kSecond;
constexpr size_t kMostMissed = 1 << 16;  // splits of a job, far beyond what fits

int64_t nanoseconds(const timespec &t) { return t.tv_sec * kSecond + t.tv_nsec; }

}  // namespace

std::optional<TextKey> text_key(const RecordOptions &records) {
  struct stat info;
  timespec clock{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &clock);  // the one that file systems take their times from
  if (::stat(records.path.c_str(), &info) || !S_ISREG(info.st_mode)) return std::nullopt;
  const int64_t modified = nanoseconds(info.st_mtim), changed = nanoseconds(info.st_ctim);
  const bool coarse = changed % kSecond == 0;
  if (std::max(modified, changed) + (coarse ? kCoarseClockStep : kClockStep) > nanoseconds(clock)) return std::nullopt;
  return TextKey{info.st_dev, info.st_ino, uint64_t(info.st_size), modified, changed, records.start, records.length,
                 records.longest, records.delimiter.empty()};
}

std::shared_ptr<KeptTexts> KeptTexts::of(Device &device) {
  static std::mutex lock;
  static std::map<const void *, std::weak_ptr<KeptTexts>> known;
  const std::lock_guard hold(lock);
  std::weak_ptr<KeptTexts> &found = known[device.memory_identity()];
  std::shared_ptr<KeptTexts> texts = found.lock();
  if (!texts) found = texts = std::make_shared<KeptTexts>();
  return texts;
}

std::shared_ptr<const KeptText> KeptTexts::find(const TextKey &key) {
  const std::lock_guard hold(lock_);
  ++clock_;
  const auto found = entries_.find(key);
  if (found != entries_.end()) {
    found->second.used = clock_;
    return found->second.text;
  }
  if (missed_.size() >= kMostMissed) missed_.clear();
  auto &[last, before] = missed_[key];
  before = std::exchange(last, clock_);
  return nullptr;
}

KeptTexts::Entries::iterator KeptTexts::free(Device &device, Entries::iterator entry) {
  memory_ -= entry->second.text->memory;
  device.free(entry->second.text->data);
  return entries_.erase(entry);
}

// Splits are read in turn, round after round: the one used longest ago is the next one. So a text goes only if a whole turn has
// passed without it, or if its file is another one now.
bool KeptTexts::make_room(Device &device, const TextKey &key, uint64_t memory, uint64_t most) {
  const uint64_t before = missed_[key].second;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const TextKey &k = entry->first;
    const bool older = std::tie(k.device, k.inode) == std::tie(key.device, key.inode) &&
                       std::tie(k.size, k.modified, k.changed) != std::tie(key.size, key.modified, key.changed);
    const bool idle = entry->second.text.use_count() == 1 && (older || entry->second.used < before);
    if (idle && (older || memory_ + memory > most)) entry = free(device, entry);
    else ++entry;
  }
  return memory_ + memory <= most;
}

std::shared_ptr<KeptText> KeptTexts::room(Device &device, const TextKey &key, uint64_t size, uint64_t most) {
  const std::lock_guard hold(lock_);
  const uint64_t memory = size + kTextMargin;
  if (entries_.count(key) || !make_room(device, key, memory, most)) return nullptr;
  char *const data = static_cast<char *>(device.allocate(memory));
  if (!data) return nullptr;
  memory_ += memory;
  return std::make_shared<KeptText>(KeptText{data, size, memory, 0});
}

void KeptTexts::add(const TextKey &key, std::shared_ptr<KeptText> text) {
  const std::lock_guard hold(lock_);
  missed_.erase(key);
  entries_[key] = {std::move(text), ++clock_};
}

void KeptTexts::drop(Device &device, std::shared_ptr<KeptText> text) {
  const std::lock_guard hold(lock_);
  memory_ -= text->memory;
  device.free(text->data);
}

bool KeptTexts::release(Device &device) {
  const std::lock_guard hold(lock_);
  const uint64_t before = memory_;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (entry->second.text.use_count() == 1) entry = free(device, entry);
    else ++entry;
  }
  return memory_ < before;
}

uint64_t KeptTexts::memory() {
  const std::lock_guard hold(lock_);
  return memory_;
}

TextKeeper::TextKeeper(Device &device, std::shared_ptr<KeptTexts> texts, const RecordOptions &records, uint64_t percent)
    : device_(device), texts_(std::move(texts)), records_(records), percent_(percent) {
  if (percent_) key_ = text_key(records_);
}

void TextKeeper::begin(uint64_t begin, uint64_t end) {
  begin_ = copied_ = begin;
  end_ = end;
  if (!key_ || begin == end) return;
  const uint64_t most = (device_.free_memory() + texts_->memory()) / 100 * percent_;
  text_ = texts_->room(device_, *key_, end - begin, most);
  if (text_) device_.fill(text_->data + text_->size, 0, kTextMargin);
}

void TextKeeper::copy(uint64_t at, const char *text, uint64_t size) {
  if (!text_ || at != copied_) return;  // a part of what was copied already
  device_.copy(text_->data + (at - begin_), text, size);
  copied_ += size;
}

// The file is asked again: it is the one whose bytes these are if it was the same before the first and behind the last read.
void TextKeeper::keep(uint64_t bytes) {
  if (!text_ || copied_ != end_ || text_key(records_) != key_) return drop();
  device_.sync();
  text_->bytes = bytes;
  texts_->add(*key_, std::exchange(text_, nullptr));
}

void TextKeeper::drop() noexcept {
  if (text_) texts_->drop(device_, std::exchange(text_, nullptr));
}

}  // namespace hd
