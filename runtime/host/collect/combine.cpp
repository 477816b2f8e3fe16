#include "collect/combine.h"

#include <cstdio>

#include "filter/pair_splitter.h"

namespace hd {
namespace {

class OutputCheck {
 public:
  OutputCheck(uint32_t partition, uint32_t partitions) : partition_(partition), partitions_(partitions) {}

  void operator()(std::string_view key) {
    if (any_ && key == previous_) return;
    if (any_ && key < previous_) fail(key, "is out of order");
    if (partition_of(key, partitions_) != partition_) fail(key, "belongs to another partition");
    previous_.assign(key);
    any_ = true;
  }

 private:
  [[noreturn]] void fail(std::string_view key, const char *what) const {
    std::string message = "the combiner's output key " + printable(key) + " " + what;
    if (any_) message += "; the key before it was " + printable(previous_);
    throw Error(kCombinerDisorder, message + ". A combiner must write its keys as it reads them");
  }

  uint32_t partition_, partitions_;
  std::string previous_;
  bool any_ = false;
};

}  // namespace

void Combiner::run(uint32_t partition, Source &in, IFileWriter &out) {
  OutputCheck check(partition, options_.partitions);
  auto on_pair = [&](std::string_view key, std::string_view value) {
    check(key);
    out.append(key, value);
  };
  PairSplitter splitter(on_pair, {options_.line_max, "combiner"}, counters_, kCombineOutputRecords);
  counters_.add(kCombineUnreadBytes, options_.combine(in, splitter));
  splitter.finish();
}

std::string printable(std::string_view key) {
  constexpr size_t kMost = 80;
  std::string s = "\"";
  for (unsigned char c : key.substr(0, kMost)) {
    char escaped[5];
    if (c < ' ' || c > '~') {
      snprintf(escaped, sizeof escaped, "\\x%02x", c);
      s += escaped;
    } else {
      if (c == '"' || c == '\\') s += '\\';
      s += char(c);
    }
  }
  return s + (key.size() > kMost ? "...\"" : "\"");
}

}  // namespace hd
