// The file that a split is part of, open for reading at any place, by any threads.
#pragma once
#include <cstdint>
#include <string>

namespace hd {

constexpr uint64_t kToEnd = UINT64_MAX;

class SplitFile {
 public:
  // `length` kToEnd: to the file's end. Throws Error kIoError (errno) where the file cannot be opened, kBadInput where it
  // is not a regular file.
  SplitFile(const std::string &path, uint64_t start, uint64_t length);
  ~SplitFile();
  SplitFile(const SplitFile &) = delete;
  SplitFile &operator=(const SplitFile &) = delete;

  const std::string &path() const { return path_; }
  int fd() const { return fd_; }
  uint64_t start() const { return start_; }
  uint64_t end() const { return end_; }
  uint64_t size() const;  // of the file, now
  // One read: some of n bytes, 0 at the file's end. Throws Error kIoError.
  size_t read(char *to, size_t n, uint64_t at) const;
  // All of n bytes, which were there before; where they are not, too_short.
  void read_all(char *to, size_t n, uint64_t at) const;
  // Throws Error kIoError if the file's end, seen at `seen`, is before `needed`.
  void must_reach(uint64_t needed, uint64_t seen) const;

 private:
  const std::string path_;
  int fd_ = -1;
  uint64_t start_ = 0, end_ = 0;
};

}  // namespace hd
