// The collector's memory: distinct keys in a hash table, the values of each key in arrival order as runs of equal
// values. Adding an equal value again costs one probe and one increment and takes no memory.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/key_words.h"
#include "base/region.h"

namespace hd {

constexpr size_t kInlineValue = 8;          // bytes of a value kept in place
constexpr uint8_t kLong = 255;              // instead of a length: the bytes are in the arena, after their length
constexpr uint32_t kMostCount = 0xffffff;   // of one run; more repeats start another run

// A pair ready for the table. Short keys and values live in the words; only long ones need their bytes.
struct HashedPair {
  Words key_words;          // of a long key: lo = its first eight bytes
  uint64_t value_word = 0;  // of a value up to kInlineValue bytes
  uint32_t tag = 0;
  uint8_t key_length = 0, value_length = 0;  // or kLong
  std::string_view key, value;               // only of long ones
};

// One distinct key with its latest run; earlier runs are in GroupTable::runs(). A long key's words are its first eight
// bytes and its place in the arena; a long value's word is its place. Half a cache line: a probe touches no second one.
struct alignas(32) Group {
  Words key_words;
  uint64_t value_word;
  uint32_t count;
  uint8_t key_length, value_length;
};
static_assert(sizeof(Group) == 32);

// `count` equal values of group `group`.
struct Run {
  uint64_t value_word;
  uint32_t group;
  uint32_t count : 24, value_length : 8;
};
static_assert(sizeof(Run) == 16);

class GroupTable {
 public:
  explicit GroupTable(uint64_t limit);
  // False = does not fit the limit: write out, clear() and add again. An empty table takes any pair.
  bool add(const HashedPair &p);
  // The same of a pair whose key is a new one: it is not looked for. All pairs of a table are added so, or none.
  bool add_new(const HashedPair &p);
  void prefetch_slot(uint32_t tag) const { prefetch(&slots_[tag >> shift_]); }
  void prefetch_group(uint32_t tag) const {
    const Slot s = slots_[tag >> shift_];
    if (s.tag == tag && s.group) prefetch(&groups_[s.group - 1]);
  }
  void clear();
  // Gives everything back, the slots too; only clear() may follow.
  void release();

  bool empty() const { return groups_.size() == 0; }
  const Column<Group> &groups() const { return groups_; }
  const Column<Run> &runs() const { return runs_; }
  // Earlier runs of each group. Free for other use once no pair is added any more.
  Column<uint32_t> &run_counts() { return run_counts_; }
  std::string_view key(const Group &g) const { return text(g.key_length, &g.key_words, g.key_words.hi); }
  // `r` is a Group (its latest run) or a Run, in the table.
  template <class R>
  std::string_view value(const R &r) const {
    return text(uint8_t(r.value_length), &r.value_word, r.value_word);
  }
  template <class R>
  void prefetch_value(const R &r) const {
    if (r.value_length == kLong) prefetch(arena_.data() + r.value_word);
  }
  void prefetch_text(const Group &g) const {
    if (g.key_length == kLong) prefetch(arena_.data() + g.key_words.hi);
    prefetch_value(g);
  }

 private:
  struct Slot {
    uint32_t tag, group;  // group + 1; 0 = empty
  };
  // With what sorting a load will need per group and per run: sort entry, partition, place in the run order.
  static constexpr uint64_t kGroupBytes = sizeof(Group) + 4 + 16 + 4, kRunBytes = sizeof(Run) + 4;
  static constexpr uint64_t kMostIndex = 0x7fffffff;

  bool insert(size_t slot, const HashedPair &p);
  bool append(Group &g, uint32_t index, const HashedPair &p);
  bool take(uint64_t bytes);
  bool grow_slots();
  void place(uint32_t tag, uint32_t group);
  bool same_key(const Group &g, const HashedPair &p) const;
  bool same_value(const Group &g, const HashedPair &p) const;
  std::string_view text(uint8_t length, const void *in_place, uint64_t place) const;
  uint64_t store(std::string_view long_text);
  uint64_t store_value(const HashedPair &p);

  uint64_t limit_, used_ = 0;  // bytes, all but the slots
  unsigned first_bits_, bits_, shift_;
  Column<Slot> slots_;  // index = the tag's top bits, so growing keeps the order and runs through memory once
  Column<Group> groups_;
  Column<uint32_t> run_counts_;
  Column<Run> runs_;
  Column<char> arena_;
};

inline std::string_view GroupTable::text(uint8_t length, const void *in_place, uint64_t place) const {
  if (length != kLong) return {static_cast<const char *>(in_place), length};
  uint32_t n;
  memcpy(&n, arena_.data() + place, sizeof n);
  return {arena_.data() + place + sizeof n, n};
}

inline bool GroupTable::same_key(const Group &g, const HashedPair &p) const {
  if (g.key_length != p.key_length || g.key_words.lo != p.key_words.lo) return false;
  return p.key_length != kLong ? g.key_words.hi == p.key_words.hi : key(g) == p.key;
}

inline bool GroupTable::same_value(const Group &g, const HashedPair &p) const {
  if (g.value_length != p.value_length) return false;
  return p.value_length != kLong ? g.value_word == p.value_word : value(g) == p.value;
}

inline bool GroupTable::add(const HashedPair &p) {
  const size_t mask = slots_.size() - 1;
  for (size_t i = p.tag >> shift_;; i = (i + 1) & mask) {
    const Slot s = slots_[i];
    if (s.group == 0) return insert(i, p);
    if (s.tag != p.tag) continue;
    Group &g = groups_[s.group - 1];
    if (!same_key(g, p)) continue;
    if (!same_value(g, p) || g.count == kMostCount) return append(g, s.group - 1, p);
    ++g.count;
    return true;
  }
}

}  // namespace hd
