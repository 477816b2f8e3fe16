// What a job says of its pairs: how they are text, which reducer they go to and in what order. And how they are kept between
// map and reduce where that is not by the bytes of the key.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pairs/key_fields.h"
#include "pairs/key_order.h"
#include "pairs/pair_cut.h"

namespace hd {

// map_out     how the map filter's lines are cut into pairs; reduce_out: those of combiner and reduce filter.
// reduce_in   between key and value of what these two read; out: of part files.
// by_fields   KeyFieldBasedPartitioner with the ranges of `partition`; else HashPartitioner.
// ordered     KeyFieldBasedComparator with the ranges of `order`; else the order of bytes.
struct PairForm {
  PairCut map_out, reduce_out;
  std::string reduce_in = "\t", out = "\t";
  bool by_fields = false, ordered = false;
  KeyFields partition, order;
  bool keeps() const { return by_fields || ordered; }  // pairs have another form between map and reduce
};

struct TextPair {
  std::string_view key, value;
};

// Pairs as they are kept then, in files whose order is that of bytes all the same:
//
//   key    := number of the partition (4 bytes, big-endian), then the order's form of the key, or the key
//   value  := size of the key (4 bytes) key value, or the value where the key is in the key
//
// So pairs whose keys are equal to the comparator stay in the order in which they came.
class PairKeeper {
 public:
  // `form` must outlive it.
  PairKeeper(const PairForm &form, uint32_t partitions);
  // Where the job's partitioner puts a key.
  uint32_t partition(std::string_view key) const;
  // Views are valid until the next call. Throws Error kKeyOrder.
  TextPair keep(std::string_view key, std::string_view value, uint32_t partition);
  // What `keep` got; views into what it gave.
  TextPair give(std::string_view key, std::string_view value) const;
  // For a reader of pairs of one partition, which come from several tasks: throws Error kKeyOrder as `keep`.
  void look(std::string_view key);

 private:
  const PairForm &form_;
  const uint32_t partitions_;
  KeyOrder order_;
  std::string key_, value_;
};

// The partition of a kept key.
uint32_t kept_partition(std::string_view key);

// A cursor over kept pairs that gives what was kept.
template <class Cursor>
struct GivingCursor {
  Cursor cursor;
  const PairKeeper *keeper;
  bool next(std::string_view &key, std::string_view &value, uint64_t &count) {
    if (!cursor.next(key, value, count)) return false;
    const TextPair pair = keeper->give(key, value);
    key = pair.key;
    value = pair.value;
    return true;
  }
};

}  // namespace hd
