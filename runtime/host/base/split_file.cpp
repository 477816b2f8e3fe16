#include "base/split_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/common.h"

namespace hd {

SplitFile::SplitFile(const std::string &path, uint64_t start, uint64_t length) : path_(path), start_(start) {
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);  // a FIFO must not block here
  if (fd_ < 0) throw Error(kIoError, "cannot open " + path + ": " + std::strerror(errno), errno);
  try {
    struct stat info;
    if (::fstat(fd_, &info) || !S_ISREG(info.st_mode)) throw Error(kBadInput, path + " is not a regular file");
    ::posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
    end_ = length == kToEnd ? std::max(static_cast<uint64_t>(info.st_size), start) : start + length;
    if (end_ < start) throw Error(kBadInput, "the split of " + path + " is longer than any file");
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

SplitFile::~SplitFile() { ::close(fd_); }

uint64_t SplitFile::size() const {
  struct stat info;
  if (::fstat(fd_, &info)) throw Error(kIoError, "cannot read " + path_ + ": " + std::strerror(errno), errno);
  return static_cast<uint64_t>(info.st_size);
}

size_t SplitFile::read(char *to, size_t n, uint64_t at) const {
  for (;;) {
    const ssize_t r = ::pread(fd_, to, n, static_cast<off_t>(at));
    if (r >= 0) return static_cast<size_t>(r);
    if (errno != EINTR) throw Error(kIoError, "cannot read " + path_ + ": " + std::strerror(errno), errno);
  }
}

void SplitFile::read_all(char *to, size_t n, uint64_t at) const {
  for (const uint64_t needed = at + n; at < needed;) {
    const size_t got = read(to, needed - at, at);
    if (got == 0) must_reach(std::max(needed, end_), std::min(at, size()));  // other threads may read before this place
    to += got;
    at += got;
  }
}

void SplitFile::must_reach(uint64_t needed, uint64_t seen) const {
  if (seen >= needed) return;
  throw Error(kIoError, path_ + " ends at byte " + std::to_string(seen) + ", before the end of its split at byte " +
                            std::to_string(needed) + ": it has been cut short since the job was planned");
}

}  // namespace hd
