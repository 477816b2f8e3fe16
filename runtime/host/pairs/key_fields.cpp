#include "pairs/key_fields.h"

namespace hd {

// Hadoop goes on one byte behind the beginning of a separator, however long it is: of a longer one the rest is in the next
// field. The places are sums of lengths and whole separators, so that with such a one they lie further on.
void KeyFields::Cut::set(const KeyFields &fields, std::string_view key) {
  key_ = key;
  starts_.clear();
  lengths_.clear();
  const std::string_view separator = fields.separator_;
  size_t from = 0;
  int64_t sum = 0;
  const auto field = [&](size_t length) {
    starts_.push_back(sum);
    lengths_.push_back(int64_t(length));
    sum += int64_t(length + separator.size());
  };
  for (size_t at; (at = key.find(separator, from)) != key.npos; from = at + 1) field(at - from);
  field(key.size() - from);
}

bool KeyFields::Cut::part(const KeyRange &range, KeyPart &part) const {
  const int64_t size = int64_t(key_.size());
  if (starts_.size() < range.first_field) return false;
  const int64_t first = starts_[range.first_field - 1] + range.first_char;
  if (first > size) return false;
  part = {first - 1, size};
  if (range.last_field == 0 || starts_.size() < range.last_field) return true;
  const size_t last = range.last_field - 1;
  const int64_t end = starts_[last] + (range.last_char ? int64_t(range.last_char) : lengths_[last]);
  if (end <= size) part.end = end;
  return true;
}

}  // namespace hd
