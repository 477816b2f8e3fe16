// The pairs of a task whose combiner is a fold, brought together by hash tables: a line per key instead of all the lines.
#pragma once
#include <cstdint>

#include "../../device/steps/fold.h"
#include "collect/collector.h"
#include "gpu/combine.h"
#include "gpu/context.h"
#include "gpu/launch.h"

namespace hd {

struct FoldSpec {
  PairCheck check;
  FoldForm form;    // no numbers: none was asked for
  uint64_t longest_line = UINT64_MAX;
};

// What `hash_fold` (hd_hash_fold) makes of the values that `check` reads; none where it does not fit them.
FoldForm fold_form(uint32_t hash_fold, const PairCheck &check);

// What was found in a store; not `usable`: it holds pairs that do not read back.
struct FoldedPairs {
  uint64_t pairs = 0, bytes = 0, unreadable = 0, errors = 0;
  bool usable() const { return unreadable == 0; }
};

// What is kept stays until clear(), whatever memory a sub-split could not get.
class PairFolder {
 public:
  explicit PairFolder(Device &device);
  // Looks at all slots of `store`. Nothing is kept yet. Throws OutOfDeviceMemory.
  FoldedPairs fold(GpuContext &context, const DeviceStore &store, const FoldSpec &spec);
  // Keeps a line for each key of the last fold(), whose store must be as it was. Throws OutOfDeviceMemory: nothing is kept.
  void keep(GpuContext &context, const DeviceStore &store, const FoldSpec &spec);
  // All that is kept, each key once, in no order; valid until the next call.
  OrderedPairs lines(GpuContext &context, const FoldSpec &spec);
  bool empty() const { return kept_.slots() == 0; }
  // So many lines that they should be written out.
  bool full(Device &device) const;
  void clear();

 private:
  void reserve_table(GpuContext &context, uint64_t places, const FoldForm &form);
  FoldTable table() { return {ids_.data(), values_.data(), uint32_t(places_ - 1), 0}; }
  void write_lines(GpuContext &context, const DeviceStore &from, const FoldSpec &spec, DeviceStore &to, uint64_t text);

  DeviceBuffer<unsigned long long> ids_, values_;
  DeviceBuffer<FoldWords> words_;
  DeviceBuffer<uint8_t> flags_;
  DeviceBuffer<uint32_t> chosen_, sizes_;
  DeviceBuffer<uint64_t> offset_;
  DeviceStore kept_, whole_;
  PairOrder order_;
  uint64_t places_ = 0;           // of the table
  uint32_t distinct_ = 0;         // keys of the last fold()
  uint64_t kept_text_ = 0;        // bytes
  uint32_t keeps_ = 0;
};

}  // namespace hd
