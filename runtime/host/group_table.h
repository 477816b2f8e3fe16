// The collector's memory: distinct keys in a hash table, the values of each key in arrival order as runs of equal
// values. Adding an equal value again costs one probe and one increment and takes no memory.
#pragma once
#include <cstdint>
#include <string_view>

#include "key_words.h"
#include "region.h"

namespace hd {

constexpr size_t kInlineValue = 8;  // bytes of a value kept in place

// A pair ready for the table. Short keys and values live in the words; only long ones need their bytes.
struct HashedPair {
  Words key_words;          // of a long key: lo = its first eight bytes
  uint64_t value_word = 0;  // of a value up to kInlineValue bytes
  uint32_t tag = 0, key_length = 0, value_length = 0;
  const char *key = nullptr, *value = nullptr;
};

// `count` equal values. A long value's word is its place in the arena.
struct Run {
  uint64_t value_word, count;
  uint32_t value_length, group;
};

// One distinct key with its latest run; earlier runs are in GroupTable::runs_. A long key's words are its first
// eight bytes and its place in the arena.
struct Group {
  Words key_words;
  uint64_t value_word, count;
  uint32_t key_length, value_length;
  uint32_t runs;  // earlier runs; while a load is written: the end of their places in run_order_
  uint32_t partition : 31, unreadable : 1;
};

class GroupTable {
 public:
  explicit GroupTable(uint64_t limit);
  // False = does not fit the limit: write out, clear() and add again. An empty table takes any pair.
  bool add(const HashedPair &p);
  void prefetch_slot(uint32_t tag) const { __builtin_prefetch(&slots_[tag >> shift_]); }
  void prefetch_group(uint32_t tag) const {
    const Slot s = slots_[tag >> shift_];
    if (s.tag == tag && s.group) __builtin_prefetch(&groups_[s.group - 1], 1);
  }
  void clear();
  // Gives everything back, the slots too; only clear() may follow.
  void release();

  bool empty() const { return groups_.size() == 0; }
  const Column<Group> &groups() const { return groups_; }
  const Column<Run> &runs() const { return runs_; }
  std::string_view key(const Group &g) const {
    return {g.key_length <= kShort ? reinterpret_cast<const char *>(&g.key_words) : arena_.data() + g.key_words.hi,
            g.key_length};
  }
  // `r` is a Group (its latest run) or a Run, in the table.
  template <class R>
  std::string_view value(const R &r) const {
    return {r.value_length <= kInlineValue ? reinterpret_cast<const char *>(&r.value_word) : arena_.data() + r.value_word,
            r.value_length};
  }

 private:
  struct Slot {
    uint32_t tag, group;  // group + 1; 0 = empty
  };
  // What sorting a load will need per group and per run, taken into account when they are added.
  static constexpr uint64_t kGroupBytes = sizeof(Group) + 16, kRunBytes = sizeof(Run) + 4;
  static constexpr uint64_t kMostIndex = 0x7fffffff;

  bool insert(size_t slot, const HashedPair &p);
  bool append(Group &g, uint32_t index, const HashedPair &p);
  bool take(uint64_t bytes);
  bool grow_slots();
  void place(uint32_t tag, uint32_t group);
  bool same_key(const Group &g, const HashedPair &p) const;
  bool same_value(const Group &g, const HashedPair &p) const;
  uint64_t store_value(const HashedPair &p);

  uint64_t limit_, used_ = 0;  // bytes, all but the slots
  unsigned first_bits_, bits_, shift_;
  Column<Slot> slots_;  // index = the tag's top bits, so growing keeps the order and runs through memory once
  Column<Group> groups_;
  Column<Run> runs_;
  Column<char> arena_;
};

inline bool GroupTable::same_key(const Group &g, const HashedPair &p) const {
  if (g.key_length != p.key_length || g.key_words.lo != p.key_words.lo) return false;
  if (p.key_length <= kShort) return g.key_words.hi == p.key_words.hi;
  return memcmp(arena_.data() + g.key_words.hi, p.key, p.key_length) == 0;
}

inline bool GroupTable::same_value(const Group &g, const HashedPair &p) const {
  if (g.value_length != p.value_length) return false;
  if (p.value_length <= kInlineValue) return g.value_word == p.value_word;
  return memcmp(arena_.data() + g.value_word, p.value, p.value_length) == 0;
}

inline bool GroupTable::add(const HashedPair &p) {
  const size_t mask = slots_.size() - 1;
  for (size_t i = p.tag >> shift_;; i = (i + 1) & mask) {
    const Slot s = slots_[i];
    if (s.group == 0) return insert(i, p);
    if (s.tag != p.tag) continue;
    Group &g = groups_[s.group - 1];
    if (!same_key(g, p)) continue;
    if (!same_value(g, p)) return append(g, s.group - 1, p);
    ++g.count;
    return true;
  }
}

}  // namespace hd
