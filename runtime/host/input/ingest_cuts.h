// Where a split can be cut between records, in the bytes of its file: found by small reads, ahead of those of the bulk.
#pragma once
#include <cstdint>
#include <memory>

#include "base/common.h"
#include "base/split_file.h"

namespace hd {

// The records are those of records.h, for its three line ends or \n alone. With g(x) = the offset behind the first line
// end at or after x, both bytes of a \r\n included, the split's text is [g(start), g(end)), from 0 (or behind the byte
// order mark) if start is 0; and it can be cut at every g(x).
class RecordCuts {
 public:
  // `cr_ends`: \r and \r\n end a record too. All throw Error kCancelled and kIoError: a read fails, the file ends too early.
  RecordCuts(const SplitFile &file, bool cr_ends, const Cancel &cancel);
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return end_; }
  uint64_t bytes() const { return bytes_; }  // as RecordSource counts them
  // g(x), at most end(); x >= begin().
  uint64_t after(uint64_t x);
  // Where to cut [from, to), which holds whole records, in two parts about as long as each other; 0: it is one record.
  uint64_t middle(uint64_t from, uint64_t to);
  // Throws Error kInputLine if one of the records in [from, to) has more than `longest` bytes, its end left out.
  void check_lengths(uint64_t from, uint64_t to, uint64_t longest);

 private:
  uint64_t line_end(uint64_t x);
  uint64_t last_line_end(uint64_t from, uint64_t to);
  uint64_t behind(uint64_t line_end);
  bool marked() const;

  const SplitFile &file_;
  const bool cr_ends_;
  const Cancel cancel_;
  std::unique_ptr<char[]> buffer_;
  uint64_t begin_ = 0, end_ = 0, bytes_ = 0;
};

}  // namespace hd
