// Whether pairs read back through the combiner's reader; see PairCheck in collector.h.
#pragma once
#include <string_view>

#include "collect/collector.h"
#include "collect/group_table.h"

namespace hd {

bool key_reads_back(const PairCheck &check, std::string_view key);
bool value_reads_back(const PairCheck &check, std::string_view value);

// Pairs of the whole table that do not read back, each repeat counted. Looks once at each distinct key and each run.
uint64_t unreadable_pairs(const PairCheck &check, const GroupTable &table);

}  // namespace hd
