// A range of a file that several threads fill at the same time.
#pragma once
#include <cstdint>

#include "base/file_io.h"

namespace hd {

// A large range of a file on ext4 or XFS is allocated, which says whether the disk has room and makes what follows faster. Writers of
// one file wait for each other in the system, also where they write different parts of it; threads that fill pages of a
// mapping do not, though each is slower. So it is mapped for many threads, and written by pwrite for few, as on other file systems.
class FileRange {
 public:
  static constexpr uint64_t kLarge = 4 << 20;  // bytes: below that it is not worth it
  // `bytes` more, behind what `file` has; the file must outlive it. Throws Error kIoError.
  FileRange(OutputFile &file, uint64_t bytes, bool many_threads, uint64_t large = kLarge);
  ~FileRange();
  FileRange(const FileRange &) = delete;
  // By any thread, each byte of the range once; `at` counts from its begin. Throws Error kIoError.
  void write(const char *data, uint64_t n, uint64_t at) const;
  uint64_t bytes() const { return bytes_; }
  bool mapped() const { return map_ != nullptr; }

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
