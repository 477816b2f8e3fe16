// A full group table in output order: by partition, then key (unsigned bytes), each key's runs in arrival order.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "collect/group_table.h"

namespace hd {

struct SortEntry {
  uint64_t prefix;  // eight bytes of the key, in order
  uint32_t group;
  uint32_t extra;  // while sorting: the key's length; then: where its earlier runs end in the run order
};

// Walks the runs of one partition. Views point into the table.
class RunCursor {
 public:
  RunCursor(const GroupTable &table, const SortEntry *first, const SortEntry *last, const Column<uint32_t> &run_order,
            uint64_t first_run)
      : table_(&table), at_(first), last_(last), order_(&run_order), run_(first_run) {}
  bool next(std::string_view &key, std::string_view &value, uint64_t &count);

 private:
  void fetch_ahead_group() const;
  void fetch_ahead_run() const;

  const GroupTable *table_;
  const SortEntry *at_, *last_;
  const Column<uint32_t> *order_;
  uint64_t run_;
};

// Sorts on construction; the table must not change meanwhile. Only the distinct keys are sorted; the runs, which lie
// in arrival order, are dealt out to their groups in one pass.
class SortedLoad {
 public:
  // `kept`: keys are in the form of a PairKeeper, which holds their partition.
  SortedLoad(GroupTable &table, uint32_t partitions, bool kept = false);
  bool empty(uint32_t partition) const { return bounds_[partition] == bounds_[partition + 1]; }
  RunCursor runs(uint32_t partition) const;

 private:
  void distribute(uint32_t partitions, bool kept);
  void deal_runs();

  GroupTable &table_;
  std::vector<uint64_t> bounds_;  // partition p is entries [bounds_[p], bounds_[p + 1])
  Column<SortEntry> entries_;
  Column<uint32_t> run_order_;
};

}  // namespace hd
