// Parts of a key by numbers of its fields: `-k` options of Hadoop's KeyFieldBasedPartitioner and KeyFieldBasedComparator
// (KeyFieldHelper).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hd {

// -kF.C,F.C: fields and characters from 1 on; last_field 0: to the key's end; last_char 0: the whole of the last field.
struct KeyRange {
  uint32_t first_field = 1, first_char = 1, last_field = 0, last_char = 0;
  bool numeric = false, reverse = false;
};

// Bytes [first, end) of a key; `end` may lie before `first`.
struct KeyPart {
  int64_t first, end;
};

class KeyFields {
 public:
  KeyFields() = default;
  KeyFields(std::string separator, std::vector<KeyRange> ranges)
      : separator_(std::move(separator)), ranges_(std::move(ranges)) {}
  const std::vector<KeyRange> &ranges() const { return ranges_; }
  const std::string &separator() const { return separator_; }

  // A key, cut into fields: for one key after the other.
  class Cut {
   public:
    // The references must outlive what is asked of it.
    void set(const KeyFields &fields, std::string_view key);
    // False: the key has no such part.
    bool part(const KeyRange &range, KeyPart &part) const;

   private:
    std::string_view key_;
    std::vector<int64_t> starts_;  // of each field, by Hadoop's sum of the lengths before it
    std::vector<int64_t> lengths_;
  };

 private:
  std::string separator_ = "\t";  // not empty
  std::vector<KeyRange> ranges_;
};

}  // namespace hd
