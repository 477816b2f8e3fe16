// A text file of pairs, `key TAB value NL` each (or another separator): map-only output and reduce output, as TextOutputFormat writes Text
// pairs (Hadoop: TextOutputFormat.LineRecordWriter; an empty value leaves a trailing tab).
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/file_io.h"
#include "base/file_range.h"

namespace hd {

// The file appears complete under its name at commit(), or not at all. Memory: one buffer.
class TextOutput {
 public:
  explicit TextOutput(const std::string &path, std::string separator = "\t");
  void add(std::string_view key, std::string_view value) {
    const size_t n = key.size() + separator_.size() + value.size() + 1;
    if (n > kBuffer - used_) return add_slowly(key, value);
    char *to = buffer_.get() + used_;
    key.copy(to, key.size());
    separator_.copy(to + key.size(), separator_.size());
    value.copy(to + key.size() + separator_.size(), value.size());
    to[n - 1] = '\n';
    used_ += n;
  }
  // A range of the file for lines as they are to be in it, behind what was added so far. No longer than this lives.
  std::shared_ptr<FileRange> range(uint64_t bytes, bool many_threads);
  void commit();

 private:
  static constexpr size_t kBuffer = 256 << 10;
  void add_slowly(std::string_view key, std::string_view value);
  void put(std::string_view bytes);
  void flush();

  const std::string separator_;
  OutputFile file_;
  std::unique_ptr<char[]> buffer_;
  size_t used_ = 0;
};

}  // namespace hd
