#include "pairs/pair_form.h"

#include <cstring>

#include "pairs/partition.h"

namespace hd {
namespace {

constexpr size_t kNumber = 4;  // bytes before the key

}  // namespace

PairKeeper::PairKeeper(const PairForm &form, uint32_t partitions)
    : form_(form), partitions_(partitions), order_(form.order, partitions) {}

uint32_t PairKeeper::partition(std::string_view key) const {
  return form_.by_fields ? partition_by_fields(key, form_.partition, partitions_) : partition_of(key, partitions_);
}

TextPair PairKeeper::keep(std::string_view key, std::string_view value, uint32_t partition) {
  key_.clear();
  for (int shift = 24; shift >= 0; shift -= 8) key_ += char(partition >> shift);
  if (!form_.ordered) {
    key_ += key;
    return {key_, value};
  }
  order_.append(key, partition, key_);
  const uint32_t size = uint32_t(key.size());
  value_.assign(reinterpret_cast<const char *>(&size), sizeof size);
  value_ += key;
  value_ += value;
  return {key_, value_};
}

TextPair PairKeeper::give(std::string_view key, std::string_view value) const {
  if (!form_.ordered) return {key.substr(kNumber), value};
  uint32_t size;
  memcpy(&size, value.data(), sizeof size);
  return {value.substr(sizeof size, size), value.substr(sizeof size + size)};
}

void PairKeeper::look(std::string_view key) {
  if (!order_.numeric()) return;
  key_.clear();
  order_.append(key, 0, key_);
}

uint32_t kept_partition(std::string_view key) {
  uint32_t n = 0;
  for (size_t i = 0; i < kNumber; ++i) n = n << 8 | uint8_t(key[i]);
  return n;
}

}  // namespace hd
