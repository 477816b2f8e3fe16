// Merges open segments through a tree of losers: unsigned key bytes, ties in segment order.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "ifile/segment_reader.h"

namespace hd {

class SegmentMerger {
 public:
  // Begins a merge of the first n readers, which must be open and outlive it.
  void start(SegmentReader *readers, size_t n);
  // False at the end. Views are valid until the next call.
  bool next(std::string_view &key, std::string_view &value);
  // For TextSource, which takes a count that is not 0 for another pair to give: at the end it must be 0.
  bool next(std::string_view &key, std::string_view &value, uint64_t &count) {
    const bool any = next(key, value);
    count = any;
    return any;
  }

 private:
  struct Head {
    uint64_t prefix = 0;  // of an ended reader: the largest there is
    bool ended = false;
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  void advance(uint32_t i);
  bool before(uint32_t a, uint32_t b) const;
  void build();
  void replay(uint32_t i);

  SegmentReader *readers_ = nullptr;
  std::vector<Head> heads_;
  std::vector<uint32_t> losers_;  // [0] is the winner; node i has the children 2i and 2i + 1, leaf i is node n + i
  bool started_ = false;
};

}  // namespace hd
