#include "collect/combine.h"

#include "base/printable.h"
#include "filter/pair_splitter.h"
#include "pairs/partition.h"

namespace hd {
namespace {

class OutputCheck {
 public:
  OutputCheck(uint32_t partition, const CollectorOptions &options) : partition_(partition), options_(options) {}

  // `stored`: the key as it is kept.
  void operator()(std::string_view stored, std::string_view key) {
    if (any_ && stored == previous_) return;
    if (any_ && stored < previous_) fail(key, "is out of order");
    if (!options_.stays && partition_of(key, options_.partitions) != partition_) fail(key, "belongs to another partition");
    previous_.assign(stored);
    if (options_.keeper) shown_.assign(key);
    any_ = true;
  }

 private:
  [[noreturn]] void fail(std::string_view key, const char *what) const {
    std::string message = "the combiner's output key " + printable(key) + " " + what;
    if (any_) message += "; the key before it was " + printable(options_.keeper ? shown_ : previous_);
    throw Error(kCombinerDisorder, message + ". A combiner must write its keys as it reads them");
  }

  const uint32_t partition_;
  const CollectorOptions &options_;
  std::string previous_, shown_;
  bool any_ = false;
};

}  // namespace

void Combiner::run(uint32_t partition, Source &in, IFileWriter &out) {
  OutputCheck check(partition, options_);
  auto on_pair = [&](std::string_view key, std::string_view value) {
    const TextPair stored = options_.keeper ? options_.keeper->keep(key, value, partition) : TextPair{key, value};
    check(stored.key, key);
    out.append(stored.key, stored.value);
  };
  PairSplitter splitter(on_pair, {options_.line_max, "combiner"}, counters_, kCombineOutputRecords, kCounters,
                        options_.combine_out);
  counters_.add(kCombineUnreadBytes, options_.combine(in, splitter));
  splitter.finish();
}

}  // namespace hd
