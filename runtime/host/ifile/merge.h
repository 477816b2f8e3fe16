// k-way merge of IFile segments of one partition: unsigned key bytes, ties in segment order (stable).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/common.h"
#include "filter/process.h"
#include "pairs/pair_form.h"

namespace hd {

struct Segment {
  std::string path;
  uint64_t start = 0, raw_length = 0, part_length = 0;
};

// Pulls pairs in merged order. Buffers stay within `memory` bytes in all; with more segments than that (or the
// open-file limit) allows, earlier segments are first merged into runs in `work_dir`, keeping order.
class MergeReader {
 public:
  MergeReader(std::vector<Segment> segments, uint64_t memory, std::string work_dir, const Cancel &cancel);
  ~MergeReader();
  // False at the end. Views stay valid until the next call. Throws Error kIoError on a bad CRC, order or length.
  bool next(std::string_view &key, std::string_view &value);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The reader's next pair as it was before `keeper` kept it; no keeper: as it is. Throws Error kKeyOrder, too.
bool next_pair(MergeReader &reader, PairKeeper *keeper, std::string_view &key, std::string_view &value);

// The merged pairs as text, `key TAB value NL`, in pieces for a filter's stdin; counts records and groups. With a `keeper`
// the segments are in its form.
class MergeSource : public Source {
 public:
  MergeSource(MergeReader &reader, uint64_t &records, uint64_t &groups, std::string_view separator = "\t",
              PairKeeper *keeper = nullptr);
  ~MergeSource() override;
  std::string_view next() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hd
