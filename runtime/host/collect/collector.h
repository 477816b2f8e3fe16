// The map side's collector: partition, group, sort, spill, combine, and the final IFile with its index.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/common.h"
#include "filter/process.h"
#include "pairs/pair_form.h"
#include "pairs/partition.h"

namespace hd {

// How the combiner reads a pair (manifest.PairReader); what does not read back is counted and switches a fold off.
struct PairCheck {
  enum Key { kNoCheck = 0, kToken = 1, kField = 2, kKeyInt32 = 3, kKeyInt64 = 4, kKeyUint32 = 5, kKeyUint64 = 6 };
  enum Value : uint8_t { kAny = 0, kInt32 = 1, kInt64 = 2, kUint32 = 3, kUint64 = 4 };
  static constexpr uint32_t kMostValues = 8, kMostBetween = 4;
  Key key = kNoCheck;
  uint32_t values = 0;               // numbers of a value; 0: any value will do
  Value value[kMostValues] = {};
  uint8_t between_size[kMostValues] = {};  // of the bytes behind each number but the last; no digit begins them
  char between[kMostValues][kMostBetween] = {};
  uint64_t key_max = 0;  // bytes; 0 = no limit
  uint64_t none = 0;     // a number that no key may be, in two's complement,
  bool has_none = false;  // where there is one
  bool accepts(std::string_view key_bytes, std::string_view value_bytes) const;
};

struct CollectorOptions {
  uint32_t partitions = 1;
  uint64_t sort_bytes = 100u << 20;
  std::string work_dir;               // spills go here and are removed
  std::string out_path, index_path;   // the final IFile and its index
  bool regroup = false;               // the combiner may run per spill and again at the merge
  bool once = false;                  // a key comes once, or is in any order with itself: it is not looked for, but sorted
  PairCheck check;
  uint64_t line_max = 0;              // the longest line that the combiner may print; 0: any
  // Runs the combiner once: feeds `in` to its stdin, its stdout to `out`; throws Error kCombinerFailed. Empty = no combiner.
  // Returns the bytes of its input that it left unread.
  std::function<uint64_t(Source &in, Sink &out)> combine;
  // Where pairs are kept in another form, `add` gets them in it, and the combiner reads and writes them as they were.
  std::shared_ptr<PairKeeper> keeper;
  bool stays = false;                  // what the combiner prints stays in the partition, whatever its key: as in Hadoop
  std::string combine_in = "\t";       // between key and value of what the combiner reads
  PairCut combine_out;                 // how its lines are cut into pairs
};

class Collector {
 public:
  Collector(const CollectorOptions &options, Counters &counters, const Cancel &cancel);
  ~Collector();  // removes spills
  // One pair; may spill. Throws Error kIoError, kCombinerFailed, kCombinerDisorder, kRetryNoFold, kCancelled.
  void add(std::string_view key, std::string_view value);
  // Writes file.out and file.out.index (to their paths, complete or not at all: temporary name, then rename). `combined`: the
  // pairs are what the combiner gives, so that it does not run; a key that is there twice throws Error kCombinerDisorder.
  void finish(bool combined = false);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hd
