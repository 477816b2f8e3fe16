// Texts of splits that stay in a device's memory when their task has ended, for a task that has the same split later.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "device/device_buffer.h"
#include "input/records.h"

namespace hd {

// Which bytes of which file, as it was at one moment, and how they are cut into records.
struct TextKey {
  uint64_t device = 0, inode = 0, size = 0;
  int64_t modified = 0, changed = 0;  // nanoseconds
  uint64_t start = 0, length = 0, longest = 0;
  bool cr_ends = false;
  bool operator==(const TextKey &) const = default;
  auto operator<=>(const TextKey &) const = default;
};

// Nothing where the file cannot be asked, or was changed so lately that another change might not show in its times.
std::optional<TextKey> text_key(const RecordOptions &records);

// The split's whole records, as they lie in the file, and zeros behind them. Nobody writes into them.
struct KeptText {
  char *data = nullptr;
  uint64_t size = 0, memory = 0;
  uint64_t bytes = 0;  // as RecordSource counts them
};

// For all sessions of a device whose memory is the same. Calls from several threads; the device is the caller's own.
class KeptTexts {
 public:
  static std::shared_ptr<KeptTexts> of(Device &device);

  // The text, which stays as long as the caller has it; null: there is none, and the task reads.
  std::shared_ptr<const KeptText> find(const TextKey &key);
  // Memory for a text of `size` bytes, if all that is kept then has no more than `most`; null: there is none. What no task has
  // asked for in the time in which this one was asked for twice makes room: all splits have had a turn since.
  std::shared_ptr<KeptText> room(Device &device, const TextKey &key, uint64_t size, uint64_t most);
  void add(const TextKey &key, std::shared_ptr<KeptText> text);
  // Gives the memory of a text back that was not added.
  void drop(Device &device, std::shared_ptr<KeptText> text);
  // Gives back all that no task uses; false: that was nothing.
  bool release(Device &device);
  uint64_t memory();

 private:
  struct Entry {
    std::shared_ptr<KeptText> text;
    uint64_t used = 0;
  };
  using Entries = std::map<TextKey, Entry>;
  Entries::iterator free(Device &device, Entries::iterator entry);
  bool make_room(Device &device, const TextKey &key, uint64_t memory, uint64_t most);

  std::mutex lock_;
  Entries entries_;
  std::map<TextKey, std::pair<uint64_t, uint64_t>> missed_;  // when it was asked for last and was not there, and before that
  uint64_t clock_ = 0, memory_ = 0;
};

// A text that a task reads, and may keep.
class TextKeeper {
 public:
  TextKeeper(Device &device, std::shared_ptr<KeptTexts> texts, const RecordOptions &records, uint64_t percent);
  ~TextKeeper() { drop(); }
  TextKeeper(const TextKeeper &) = delete;

  void begin(uint64_t begin, uint64_t end);         // where the split's text lies in the file
  void copy(uint64_t at, const char *text, uint64_t size);  // device memory with what is there; in order with launches
  void keep(uint64_t bytes);                        // all is copied, or nothing is kept
  void drop() noexcept;

 private:
  Device &device_;
  const std::shared_ptr<KeptTexts> texts_;
  const RecordOptions &records_;
  const uint64_t percent_;
  std::optional<TextKey> key_;
  std::shared_ptr<KeptText> text_;
  uint64_t begin_ = 0, end_ = 0, copied_ = 0;
};

}  // namespace hd
