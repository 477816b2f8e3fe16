// The records of one split, as a filter's stdin sees them: each record and one \n, the last one too.
//
// Rule: Hadoop's LineRecordReader / LineReader. A line ends at \n, \r\n or a lone \r; a UTF-8 byte order mark at
// offset 0 is skipped. With g(x) = the offset behind the first line end at or after x, the split [start, end) gives
// the bytes from g(start) (0 for the first split) to g(end): so neighbours meet at the same byte, whatever the cut,
// and a \r\n that the cut goes through is one line end. A custom delimiter takes the place of all three: the split
// then ends with the first record whose delimiter starts at or after `end`.
//
// A delimiter that can overlap itself ("\n\n") is taken as by a reader of the whole file, from left to right: a split looks
// back to where that is sure (delimiter_cut.h).
//
// Deliberate differences from Hadoop, where Hadoop loses or doubles records: its search for a delimiter can miss a match
// that a buffer edge cuts, a split that ends in a part of a delimiter that turns out not to be one is read one record too
// far, and one that begins within "\n\n\n" may take another two of them. Hence the plug-in has Hadoop itself read where a
// delimiter has more than one byte (Decline.java).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/common.h"
#include "filter/process.h"
#include "base/split_file.h"

namespace hd {

constexpr std::string_view kBom = "\xef\xbb\xbf";  // UTF-8 byte order mark

struct RecordOptions {
  std::string path;         // read with pread; a file that is shorter than start + length is an error
  int fd = -1;              // >= 0: this pipe, to its end, in place of `path` (start and length do not count); not closed
  uint64_t start = 0;
  uint64_t length = kToEnd;
  std::string delimiter;    // bytes; empty = the three line ends
  uint64_t longest = 0;     // bytes of a record, its end left out; 0 = no limit
  uint64_t skip_from = 0;   // Hadoop's ...line.maxlength: records of so many bytes, end included, are passed over; 0 = none
  size_t chunk = 256 << 10; // bytes per read; fits the second-level cache
};

// Memory is one chunk, whatever the length of a record (and `skip_from` bytes, where that is set). Chunks without \r pass
// through as they were read.
class RecordSource : public Source {
 public:
  // Throws Error kIoError (errno) where the file cannot be opened, kBadInput where it is not a regular file.
  RecordSource(const RecordOptions &options, const Cancel &cancel);
  RecordSource(const RecordSource &) = delete;
  RecordSource &operator=(const RecordSource &) = delete;

  // Throws Error kIoError (read error, file cut short), kInputLine (a record has become too long) and kCancelled (while a
  // pipe is silent).
  std::string_view next() override;
  FileBytes origin() const override { return origin_; }

  uint64_t records() const { return records_; }  // complete records handed out so far
  uint64_t bytes() const { return bytes_; }      // their bytes in the file, line ends included

 private:
  enum class Phase { kDrop, kRecords, kDone };

  size_t read_some(char *to, size_t n);
  size_t read_pipe(char *to, size_t n);
  size_t wanted() const;
  bool fill();        // moves what is left to the front, reads on; false at the end of the file
  void skip_bom();
  void consume(size_t n);
  void check_whole() const;
  std::string_view next_lines();
  bool raw_lines(char *&data, size_t &n);
  bool drop_line();
  void check_lengths(const char *data, size_t n, bool cr_ends);
  void grow(size_t n, uint64_t at);
  std::string_view next_short_lines();
  void cut_short_lines(const char *data, size_t n);
  void add_short(const char *data, size_t n, uint64_t at);
  void end_short(size_t line_end);
  bool lf_follows();
  std::string_view next_delimited();
  bool drop_delimited(bool at_end);
  size_t cut_delimited(size_t keep, size_t &written);
  std::string_view close_record(char *data, size_t written);

  RecordOptions options_;
  Cancel cancel_;
  std::optional<SplitFile> file_;  // none: a pipe
  bool lines_ = true, cr_ends_ = true;
  uint64_t end_ = kToEnd;
  Phase phase_ = Phase::kRecords;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;
  size_t begin_ = 0, size_ = 0;  // unread bytes are buffer_[begin_, begin_ + size_)
  uint64_t at_ = 0;              // file offset of buffer_[begin_]
  bool started_ = false;
  bool skip_lf_ = false;         // the last byte was a \r: a \n that follows belongs to it
  bool open_ = false;            // a record has begun and has no line end yet
  uint64_t length_ = 0;          // of the record that is open, where lengths are looked at
  std::string short_, passed_;   // where long ones are passed over: what is open, what is next
  bool cr_last_ = false;         // there: the last byte was a \r, so that the open record's end has one byte or two
  uint64_t records_ = 0, bytes_ = 0;
  FileBytes origin_;             // of what next() gave last
};

// Hands out `source` unchanged, but tells beforehand whether it is empty: a task without input throws away its
// filter's output, and that must be known before the first byte of output comes.
class PeekSource : public Source {
 public:
  explicit PeekSource(Source &source) : source_(source) {}
  bool empty();
  std::string_view next() override;
  FileBytes origin() const override { return source_.origin(); }

 private:
  Source &source_;
  std::string_view first_;
  bool peeked_ = false, pending_ = false;
};

// Throws Error kInputLine: the record at this byte of the file (or of a pipe, where there is no path) is longer than that.
[[noreturn]] void throw_too_long(const std::string &path, uint64_t at, uint64_t longest);

// Index of the first \n (or, if `cr_ends`, \r), SIZE_MAX without one.
size_t find_line_end(const char *data, size_t n, bool cr_ends);
uint64_t count_newlines(const char *data, size_t n);

}  // namespace hd
