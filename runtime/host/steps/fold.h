// The pairs of a task whose combiner is a fold, brought together by hash tables: a line per key instead of all the lines.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "../../device/steps/fold.h"
#include "collect/collector.h"
#include "steps/combine.h"
#include "launch/context.h"
#include "launch/launch.h"

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
  uint64_t mapped = 0;    // of the pairs: by the map kernel itself
  uint64_t distinct = 0;  // keys
  bool too_many = false;  // keys for map kernels, which fold few of the pairs, and a larger table would not help
  bool usable() const { return unreadable == 0; }
};

// A hash table of keys and their folds.
struct FoldMemory {
  DeviceBuffer<unsigned long long> ids, values;
  uint64_t places = 0;
  explicit FoldMemory(Device &device) : ids(device), values(device) {}
  void release() {
    ids.reset();
    values.reset();
    places = 0;
  }
  FoldTable table() { return {ids.data(), values.data(), uint32_t(places - 1), 0}; }
};

// What is kept stays until clear(), whatever memory a sub-split could not get.
class PairFolder {
 public:
  explicit PairFolder(Device &device);
  // Nothing is kept. `map`: names the map kernel; another than the last task's has other keys.
  void begin_task(std::string_view map);
  // A table for a launch of so many threads over so many bytes of records, whose map kernel folds pairs itself; empty.
  // Throws OutOfDeviceMemory.
  TaskFold begin_map(GpuContext &context, const FoldSpec &spec, uint64_t threads, uint64_t text_bytes);
  // Looks at all slots of `store`; `mapped`: and at what its kernel folded itself. Nothing is kept yet. Throws
  // OutOfDeviceMemory.
  FoldedPairs fold(GpuContext &context, const DeviceStore &store, const FoldSpec &spec, bool mapped = false);
  // Keeps a line for each key of the last fold(), whose store must be as it was. Throws OutOfDeviceMemory: nothing is kept.
  void keep(GpuContext &context, const DeviceStore &store, const FoldSpec &spec);
  // All that is kept, each key once, in no order; valid until the next call.
  OrderedPairs lines(GpuContext &context, const FoldSpec &spec);
  bool empty() const { return kept_.slots() == 0; }
  // So many lines that they should be written out.
  bool full(Device &device) const;
  void clear();
  void release_tables();  // what is kept stays; the next map kernel's table is of the size of a first one

 private:
  void clear_table(GpuContext &context, FoldMemory &memory, uint64_t places, uint64_t spill, const FoldForm &form);
  FoldWords fold_into_table(GpuContext &context, const DeviceStore &store, const FoldSpec &spec, const MapFoldWords &mapped);
  void write_lines(GpuContext &context, const DeviceStore &from, const FoldSpec &spec, DeviceStore &to, uint64_t text);

  FoldMemory table_, mapped_;     // of hd_fold, and of map kernels
  FoldMemory *found_ = &table_;   // what the last fold() found

  DeviceBuffer<FoldWords> words_;
  DeviceBuffer<MapFoldWords> map_words_;
  DeviceBuffer<uint8_t> flags_;
  DeviceBuffer<uint32_t> chosen_, sizes_;
  DeviceBuffer<uint64_t> offset_;
  DeviceStore kept_, whole_;
  PairOrder order_;
  std::string map_;               // the tasks' map kernel
  uint64_t most_keys_ = 0;        // of its fullest launch; 0: none was seen yet
  uint32_t distinct_ = 0;         // keys of the last fold()
  uint64_t kept_text_ = 0;        // bytes
  uint32_t keeps_ = 0;
};

}  // namespace hd
