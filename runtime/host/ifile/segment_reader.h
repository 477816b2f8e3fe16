// Reads one IFile segment record by record: lengths, end mark, checksum and key order are checked on the way.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/file_io.h"
#include "ifile/merge.h"

namespace hd {

class SegmentReader {
 public:
  // Starts on a segment; a reader may be used for one segment after the other and keeps its buffer. Reads nothing yet.
  void open(std::shared_ptr<const InputFile> file, const Segment &segment, size_t buffer_bytes, const Cancel &cancel);
  // The next record; false at the end. Views are valid until the next call. Throws Error kIoError.
  bool next();
  std::string_view key() const { return {key_, key_length_}; }
  std::string_view value() const { return {value_, value_length_}; }
  uint64_t prefix() const { return prefix_; }     // the key's first eight bytes as an ordered number
  bool same_key() const { return same_key_; }     // as the record before

 private:
  uint64_t available() const { return uint64_t(end_ - at_); }
  uint64_t left() const { return available() + unread_; }  // bytes of the body that are not parsed yet
  void fetch(uint64_t need);
  uint64_t header();
  const char *text(const char *p, uint64_t length, uint32_t &text_length) const;
  void set_key(const char *key, uint32_t length);
  void finish();
  [[noreturn]] void damaged(const char *what) const;

  std::shared_ptr<const InputFile> file_;
  const Cancel *cancel_ = nullptr;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;
  const char *at_ = nullptr, *end_ = nullptr;
  uint64_t start_ = 0, offset_ = 0, unread_ = 0;  // segment start; file position and length of what was not read
  uint32_t crc_ = 0;
  const char *key_ = nullptr, *value_ = nullptr;
  uint32_t key_length_ = 0, value_length_ = 0;
  uint64_t key_bytes_ = 0, value_bytes_ = 0;  // of the current record, as the header says
  uint64_t prefix_ = 0;
  bool first_ = true, same_key_ = false;
  std::string kept_key_;  // the previous key, while its bytes in the buffer make room
};

}  // namespace hd
