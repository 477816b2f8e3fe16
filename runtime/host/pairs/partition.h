// Which reducer a key goes to, as Hadoop's partitioners say.
#pragma once
#include <cstdint>
#include <string_view>

#include "pairs/key_fields.h"

namespace hd {

// Hadoop's HashPartitioner over Text bytes (signed), facts: h = 1; h = 31*h + b; (h & 0x7fffffff) % n.
uint32_t partition_of(std::string_view key, uint32_t n);

// Hadoop's KeyFieldBasedPartitioner. It works on the key as a Java String, so bytes that are no UTF-8 count as U+FFFD. Without
// ranges: the String's own hash. A key without any of the ranges, and an empty one, goes to reducer 0.
uint32_t partition_by_fields(std::string_view key, const KeyFields &fields, uint32_t n);

}  // namespace hd
