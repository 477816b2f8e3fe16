// The order of Hadoop's KeyFieldBasedComparator as bytes: the forms of two keys compare as the comparator compares the keys.
//
//   form := part of each range, up to the first that the key lacks
//   part := 0                                             the key lacks it: it comes first, behind it nothing counts
//         | 1 size+2^31                                   its end lies before its beginning: by its (negative) size
//         | 2 bytes with 00 as 00 ff, then 00 00          text
//         | 3 ~number, 4, 5 number                        below, equal and above zero
//   number := digits before the point (4 bytes), the digits, those behind it without zeros at their end, 00, tie
//
// All big-endian; of a reversed range every byte is complemented. Decision 0049 says what Hadoop's numeric comparison does
// with what is no number, and why it is refused here.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pairs/key_fields.h"

namespace hd {

class KeyOrder {
 public:
  // `partitions`: of keys; those of each must be comparable.
  KeyOrder(KeyFields fields, uint32_t partitions);
  // Whether keys are looked at when they are read, too.
  bool numeric() const { return numeric_; }
  // Appends the key's form. Throws Error kKeyOrder where the keys of the partition so far have no order.
  void append(std::string_view key, uint32_t partition, std::string &form);

 private:
  void append_part(std::string_view key, const KeyRange &range, KeyPart part, uint8_t &kinds, std::string &form) const;
  void append_number(std::string_view key, const KeyRange &range, std::string_view text, uint8_t &kinds,
                     std::string &form) const;

  const KeyFields fields_;
  bool numeric_ = false;
  KeyFields::Cut cut_;
  std::vector<uint8_t> kinds_;  // of the numbers of each range, by partition
};

}  // namespace hd
