// A range of a file that several threads fill at the same time.
#pragma once
#include <cstdint>

#include "base/file_io.h"

namespace hd {

// Writers of one file wait for each other in the system, also where they write different parts of it; threads that fill pages
// of a mapping do not. So a large range of a file on ext4 or XFS is allocated, which says whether the disk has room, and then
// mapped; any other is written by pwrite.
class FileRange {
 public:
  // `bytes` more, behind what `file` has; the file must outlive it. Throws Error kIoError.
  FileRange(OutputFile &file, uint64_t bytes, uint64_t map_from = kMapFrom);
  ~FileRange();
  FileRange(const FileRange &) = delete;
  // By any thread, each byte of the range once; `at` counts from its begin. Throws Error kIoError.
  void write(const char *data, uint64_t n, uint64_t at) const;
  uint64_t bytes() const { return bytes_; }
  bool mapped() const { return map_ != nullptr; }

  static constexpr uint64_t kMapFrom = 4 << 20;  // bytes: below that a mapping costs more than it gives

 private:
  bool allocated() const;
  void map();
  bool fill(const char *data, uint64_t n, uint64_t at) const;

  const OutputFile &file_;
  const uint64_t bytes_, at_;
  char *map_ = nullptr;  // of the page that at_ lies in
  uint64_t map_bytes_ = 0, skip_ = 0;
};

}  // namespace hd
