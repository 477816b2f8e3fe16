#include "collect/sorted_load.h"

#include <algorithm>

#include "collect/collector.h"

namespace hd {
namespace {

constexpr size_t kAhead = 12;          // entries; random group accesses are prefetched this far ahead
constexpr size_t kRadixFrom = 256;     // entries; below, comparing beats counting
constexpr size_t kCompareFrom = 64;    // bytes; beyond this common prefix keys are compared whole (bounds the recursion)
constexpr size_t kCompareBelow = 8;    // entries

bool by_prefix(const SortEntry &a, const SortEntry &b) { return a.prefix < b.prefix; }

// In-place MSD radix sort by the prefix ("American flag"; McIlroy, Bostic, McIlroy 1993).
void radix_sort(SortEntry *a, size_t n, int shift) {
  if (n < kRadixFrom || shift < 0) return std::sort(a, a + n, by_prefix);
  size_t ends[256] = {}, next[256];
  auto digit = [shift](const SortEntry &e) { return e.prefix >> shift & 0xff; };
  for (size_t i = 0; i < n; ++i) ++ends[digit(a[i])];
  if (ends[digit(a[0])] == n) return radix_sort(a, n, shift - 8);
  for (size_t d = 0, sum = 0; d < 256; ++d) {
    next[d] = sum;
    ends[d] = sum += ends[d];
  }
  for (size_t d = 0; d < 256; ++d)
    while (next[d] < ends[d]) {
      SortEntry e = a[next[d]];
      for (size_t to = digit(e); to != d; to = digit(e)) std::swap(e, a[next[to]++]);
      a[next[d]++] = e;
    }
  for (size_t d = 0, begin = 0; d < 256; begin = ends[d++])
    if (ends[d] - begin > 1) radix_sort(a + begin, ends[d] - begin, shift - 8);
}

class KeySorter {
 public:
  explicit KeySorter(const GroupTable &table) : table_(table), groups_(table.groups()) {}

  // The entries hold the prefixes at `depth`, and their keys agree before it.
  void sort(SortEntry *a, size_t n, size_t depth) {
    radix_sort(a, n, 56);
    for (size_t i = 0, j; i < n; i = j) {
      for (j = i + 1; j < n && a[j].prefix == a[i].prefix;) ++j;
      if (j - i > 1) break_ties(a + i, a + j, depth + 8);
    }
  }

 private:
  std::string_view key(const SortEntry &e) const { return table_.key(groups_[e.group]); }

  // Keys that agree before `depth` when padded with zero bytes. One that ends there is a prefix of all longer ones.
  void break_ties(SortEntry *first, SortEntry *last, size_t depth) {
    SortEntry *open = std::partition(first, last, [depth](const SortEntry &e) { return e.extra <= depth; });
    std::sort(first, open, [](const SortEntry &a, const SortEntry &b) { return a.extra < b.extra; });
    if (last - open < 2) return;
    if (depth >= kCompareFrom || size_t(last - open) < kCompareBelow)
      return std::sort(open, last, [this, depth](const SortEntry &a, const SortEntry &b) {
        return key(a).substr(depth) < key(b).substr(depth);
      });
    for (SortEntry *e = open; e < last; ++e) {
      if (size_t(last - e) > kAhead) prefetch(&groups_[e[kAhead].group]);
      e->prefix = prefix_at(key(*e), depth);
    }
    sort(open, size_t(last - open), depth);
  }

  const GroupTable &table_;
  const Column<Group> &groups_;
};

}  // namespace

SortedLoad::SortedLoad(GroupTable &table, uint32_t partitions, bool kept)
    : table_(table), bounds_(size_t(partitions) + 1) {
  distribute(partitions, kept);
  KeySorter sorter(table);
  for (uint32_t p = 0; p < partitions; ++p)
    sorter.sort(entries_.data() + bounds_[p], bounds_[p + 1] - bounds_[p], 0);
  deal_runs();
}

// Counting sort by partition, which is computed here, once per distinct key.
void SortedLoad::distribute(uint32_t partitions, bool kept) {
  const Column<Group> &groups = table_.groups();
  Column<uint32_t> partition;
  partition.resize(groups.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::string_view key = table_.key(groups[i]);
    partition[i] = kept ? kept_partition(key) : partition_of(key, partitions);
    ++bounds_[partition[i] + 1];
  }
  for (size_t p = 1; p < bounds_.size(); ++p) bounds_[p] += bounds_[p - 1];
  std::vector<uint64_t> next(bounds_.begin(), bounds_.end() - 1);
  entries_.resize(groups.size());
  for (size_t i = 0; i < groups.size(); ++i)
    entries_[next[partition[i]]++] = {ordered(groups[i].key_words.lo), uint32_t(i), uint32_t(table_.key(groups[i]).size())};
}

// Run counts become places: first where each group's runs start, in the end where they end.
void SortedLoad::deal_runs() {
  const Column<Run> &runs = table_.runs();
  Column<uint32_t> &places = table_.run_counts();
  if (runs.size() == 0) {
    for (SortEntry &e : entries_) e.extra = 0;
    return;
  }
  uint32_t end = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (i + kAhead < entries_.size()) prefetch(&places[entries_[i + kAhead].group]);
    const uint32_t start = end;
    end += std::exchange(places[entries_[i].group], start);
    entries_[i].extra = end;
  }
  run_order_.resize(runs.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    if (i + kAhead < runs.size()) prefetch(&places[runs[i + kAhead].group]);
    run_order_[places[runs[i].group]++] = uint32_t(i);
  }
}

RunCursor SortedLoad::runs(uint32_t partition) const {
  const uint64_t first = bounds_[partition];
  const uint64_t first_run = first ? entries_[first - 1].extra : 0;  // where the one before ends
  return {table_, entries_.data() + first, entries_.data() + bounds_[partition + 1], run_order_, first_run};
}

// Two steps ahead the entry's group is fetched; one step ahead, when that is there, the bytes it points to.
inline void RunCursor::fetch_ahead_group() const {
  const size_t left = size_t(last_ - at_);
  const Column<Group> &groups = table_->groups();
  if (left > 2 * kAhead) prefetch(&groups[at_[2 * kAhead].group]);
  if (left > kAhead) table_->prefetch_text(groups[at_[kAhead].group]);
}

inline void RunCursor::fetch_ahead_run() const {
  const Column<Run> &runs = table_->runs();
  const size_t left = order_->size() - run_;
  if (left > 2 * kAhead) prefetch(&runs[(*order_)[run_ + 2 * kAhead]]);
  if (left > kAhead) table_->prefetch_value(runs[(*order_)[run_ + kAhead]]);
}

bool RunCursor::next(std::string_view &key, std::string_view &value, uint64_t &count) {
  if (at_ == last_) return false;
  const Group &g = table_->groups()[at_->group];
  key = table_->key(g);
  if (run_ < at_->extra) {
    fetch_ahead_run();
    const Run &r = table_->runs()[(*order_)[run_++]];
    value = table_->value(r);
    count = r.count;
    return true;
  }
  value = table_->value(g);
  count = g.count;
  fetch_ahead_group();
  ++at_;
  return true;
}

}  // namespace hd
