#include "collect/group_table.h"

#include <algorithm>

namespace hd {

GroupTable::GroupTable(uint64_t limit) : limit_(limit) {
  first_bits_ = 4;
  while (first_bits_ < 12 && (uint64_t(128) << first_bits_) < limit) ++first_bits_;
  clear();
}

void GroupTable::release() {
  slots_.clear();
  groups_.clear();
  run_counts_.clear();
  runs_.clear();
  arena_.clear();
  used_ = 0;
}

void GroupTable::clear() {
  release();
  bits_ = first_bits_;
  shift_ = 32 - bits_;
  slots_.resize(size_t(1) << bits_);
}

bool GroupTable::take(uint64_t bytes) {
  const bool over = used_ + bytes + slots_.size() * sizeof(Slot) > limit_;
  if ((over || std::max(groups_.size(), runs_.size()) >= kMostIndex) && !empty()) return false;
  used_ += bytes;
  return true;
}

// At most 3 of 4 slots are used. Small tables grow faster: rehashing them costs more than their memory.
bool GroupTable::grow_slots() {
  const unsigned bits = std::min(31u, bits_ + (bits_ < 16 ? 2 : 1));
  const uint64_t bytes = sizeof(Slot) << bits;  // the old slots are still there meanwhile
  if (used_ + slots_.size() * sizeof(Slot) + bytes > limit_) return false;
  Column<Slot> old = std::move(slots_);
  slots_ = {};
  slots_.resize(size_t(1) << bits);
  bits_ = bits;
  shift_ = 32 - bits;
  for (const Slot &s : old)
    if (s.group) place(s.tag, s.group);
  return true;
}

void GroupTable::place(uint32_t tag, uint32_t group) {
  size_t i = tag >> shift_;
  while (slots_[i].group) i = (i + 1) & (slots_.size() - 1);
  slots_[i] = {tag, group};
}

uint64_t GroupTable::store(std::string_view long_text) {
  const uint32_t n = uint32_t(long_text.size());
  const uint64_t place = arena_.append(reinterpret_cast<const char *>(&n), sizeof n);
  arena_.append(long_text.data(), n);
  return place;
}

uint64_t GroupTable::store_value(const HashedPair &p) {
  return p.value_length == kLong ? store(p.value) : p.value_word;
}

bool GroupTable::add_new(const HashedPair &p) {
  const bool long_key = p.key_length == kLong, long_value = p.value_length == kLong;
  if (!take(kGroupBytes + (long_key ? 4 + p.key.size() : 0) + (long_value ? 4 + p.value.size() : 0))) return false;
  Words words = p.key_words;
  if (long_key) words.hi = store(p.key);
  groups_.push_back({words, store_value(p), 1, p.key_length, p.value_length});
  run_counts_.push_back(0);
  return true;
}

bool GroupTable::insert(size_t slot, const HashedPair &p) {
  const bool full = (groups_.size() + 1) * 4 > slots_.size() * 3;
  if ((full && !grow_slots()) || !add_new(p)) return false;
  const uint32_t group = uint32_t(groups_.size());
  if (full) {
    place(p.tag, group);
  } else {
    slots_[slot] = {p.tag, group};
  }
  return true;
}

bool GroupTable::append(Group &g, uint32_t index, const HashedPair &p) {
  if (!take(kRunBytes + (p.value_length == kLong ? 4 + p.value.size() : 0))) return false;
  runs_.push_back({g.value_word, index, g.count, g.value_length});
  g.value_word = store_value(p);
  g.value_length = p.value_length;
  g.count = 1;
  ++run_counts_[index];
  return true;
}

}  // namespace hd
