#include "ifile/segment_merger.h"

#include <utility>

namespace hd {

void SegmentMerger::start(SegmentReader *readers, size_t n) {
  readers_ = readers;
  heads_.assign(n, {});
  losers_.assign(n ? n : 1, kNone);
  started_ = false;
}

void SegmentMerger::advance(uint32_t i) {
  heads_[i].ended = !readers_[i].next();
  heads_[i].prefix = heads_[i].ended ? UINT64_MAX : readers_[i].prefix();
}

// Of two readers with equal prefixes.
bool SegmentMerger::before(uint32_t a, uint32_t b) const {
  if (heads_[a].ended || heads_[b].ended) return !heads_[a].ended;
  const int order = readers_[a].key().compare(readers_[b].key());
  return order != 0 ? order < 0 : a < b;
}

// Each reader plays up the tree; the first to reach a node waits there for its opponent.
void SegmentMerger::build() {
  for (uint32_t i = 0; i < heads_.size(); ++i) advance(i);
  for (uint32_t leaf = 0; leaf < heads_.size(); ++leaf) {
    uint32_t i = leaf;
    size_t node = (heads_.size() + i) / 2;
    for (; node > 0 && losers_[node] != kNone; node /= 2) {
      const uint32_t j = losers_[node];
      const uint64_t a = heads_[j].prefix, b = heads_[i].prefix;
      if (a < b || (a == b && before(j, i))) std::swap(losers_[node], i);
    }
    losers_[node] = i;
  }
}

// Who wins is a coin toss among random keys, so the loop selects without branches; equal prefixes are the rare case.
void SegmentMerger::replay(uint32_t i) {
  uint64_t prefix = heads_[i].prefix;
  for (size_t node = (heads_.size() + i) / 2; node > 0; node /= 2) {
    const uint32_t j = losers_[node];
    const uint64_t other = heads_[j].prefix;
    bool wins = other < prefix;
    if (other == prefix) [[unlikely]] wins = before(j, i);
    losers_[node] = wins ? i : j;
    i = wins ? j : i;
    prefix = wins ? other : prefix;
  }
  losers_[0] = i;
}

bool SegmentMerger::next(std::string_view &key, std::string_view &value) {
  if (heads_.empty()) return false;
  if (!started_) {
    started_ = true;
    build();
  } else if (heads_[losers_[0]].ended) {
    return false;
  } else {
    const uint32_t winner = losers_[0];
    advance(winner);
    // The next record of an equal key wins again: the other segments' equal keys come later anyway.
    if (heads_[winner].ended || !readers_[winner].same_key()) replay(winner);
  }
  const uint32_t winner = losers_[0];
  if (heads_[winner].ended) return false;
  key = readers_[winner].key();
  value = readers_[winner].value();
  return true;
}

}  // namespace hd
