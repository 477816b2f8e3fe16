// Where a line of a filter ends its key, where a job says so: stream.num.map.output.key.fields and the field separator
// (Hadoop: TextOutputReader). Without that it is the first tab, which PairSplitter finds by itself.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace hd {

struct PairCut {
  std::string separator = "\t";  // not empty
  uint32_t fields = 1;           // of the key; 0 counts as 1
  bool plain() const { return separator == "\t" && fields <= 1; }
  // The bytes of `line` before the separator that ends the key; npos: there are fewer, all of it is the key.
  size_t key_end(std::string_view line) const {
    size_t at = line.find(separator);
    for (uint32_t k = 1; k < fields && at != line.npos; ++k) at = line.find(separator, at + separator.size());
    return at;
  }
};

}  // namespace hd
