#include "segment_merger.h"

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

bool SegmentMerger::before(uint32_t a, uint32_t b) const {
  const Head &x = heads_[a], &y = heads_[b];
  if (x.prefix != y.prefix) return x.prefix < y.prefix;
  if (x.ended || y.ended) return !x.ended;
  const int order = readers_[a].key().compare(readers_[b].key());
  return order != 0 ? order < 0 : a < b;
}

// Plays reader i up the tree. While the tree is being built, the first to reach a node waits there.
void SegmentMerger::replay(uint32_t i) {
  for (size_t node = (heads_.size() + i) / 2; node > 0; node /= 2) {
    if (losers_[node] == kNone) {
      losers_[node] = i;
      return;
    }
    if (before(losers_[node], i)) std::swap(losers_[node], i);
  }
  losers_[0] = i;
}

bool SegmentMerger::next(std::string_view &key, std::string_view &value) {
  if (heads_.empty()) return false;
  if (!started_) {
    started_ = true;
    for (uint32_t i = 0; i < heads_.size(); ++i) advance(i);
    for (uint32_t i = 0; i < heads_.size(); ++i) replay(i);
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
