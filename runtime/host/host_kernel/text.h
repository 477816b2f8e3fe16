// A split's text as part of a file that a host kernel reads by itself, so that nobody else has to.
#pragma once
#include <cstdint>

#include "base/split_file.h"
#include "filter/process.h"
#include "filter/spawn.h"
#include "input/ingest_cuts.h"
#include "task/api.h"
#include "task/task.h"

namespace hd {

// Where a descriptor has to be that becomes a child's, so that none is in another's place.
constexpr int kAboveChilds = 5;
Fd above_childs(int fd, const char *what);

// Where records lie in the file as they are on a filter's stdin, each with its \n behind it, the host kernel gets the file itself. It
// counts the records, and looks for carriage returns, which would have to be changed.
class HostText final : public Source {
 public:
  // Whether a split of such a kind can be one. The rest is seen in the file: `plain`.
  static bool may_be(const hd_map_spec &spec);

  // Throws Error kIoError, kBadInput, kCancelled, as RecordCuts.
  HostText(const hd_map_spec &spec, TaskRun &task);

  // There are records, the last one ends with \n, and no \r is at the beginning.
  bool plain() const;
  uint64_t size() const { return cuts_.end() - cuts_.begin(); }
  uint64_t bytes() const { return cuts_.bytes(); }  // MAP_INPUT_BYTES
  // What the host kernel did not read.
  uint64_t unread() const;

  std::string_view next() override { return {}; }
  int file() const override { return fd_.get(); }
  void reached(int64_t offset) override;

 private:
  TaskRun &task_;
  SplitFile file_;
  RecordCuts cuts_;
  Fd fd_;  // the file's own place, which the host kernel moves
};

}  // namespace hd
