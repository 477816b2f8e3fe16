#include "base/file_range.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstring>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14; headers may be older
#endif

namespace hd {
namespace {

constexpr uint64_t kPage = 4096;
constexpr long kXfs = 0x58465342;  // linux/magic.h has it since 6.0

// Where allocating moves no data and a mapping is as good as a write. Not tmpfs: there allocating fills all pages.
bool allocates(int fd) {
  struct statfs info;
  if (::fstatfs(fd, &info) != 0) return false;
  return long(info.f_type) == EXT4_SUPER_MAGIC || long(info.f_type) == kXfs;
}

}  // namespace

FileRange::FileRange(OutputFile &file, uint64_t bytes, bool many_threads, uint64_t large)
    : file_(file), bytes_(bytes), at_(file.extend(bytes)) {
  if (bytes_ >= large && bytes_ > 0 && allocates(file_.fd()) && allocated() && many_threads) map();
}

FileRange::~FileRange() {
  if (map_) ::munmap(map_, map_bytes_);
}

// False where the file system cannot do it; throws where it would do it and has no room.
bool FileRange::allocated() const {
  for (;;) {
    if (::fallocate(file_.fd(), 0, off_t(at_), off_t(bytes_)) == 0) return true;
    if (errno == EINTR) continue;
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO) file_.cannot_write(errno);
    return false;
  }
}

void FileRange::map() {
  skip_ = at_ % kPage;
  map_bytes_ = skip_ + bytes_;
  void *const all = ::mmap(nullptr, map_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.fd(), off_t(at_ - skip_));
  if (all != MAP_FAILED) map_ = static_cast<char *>(all);
}

void FileRange::write(const char *data, uint64_t n, uint64_t at) const {
  if (n > 0 && !(map_ && fill(data, n, at))) file_.write_at(data, n, at_ + at);
}

// False where there are no pages to be had, which pwrite tells the reason of; without asking first it would be a signal.
bool FileRange::fill(const char *data, uint64_t n, uint64_t at) const {
  char *const to = map_ + skip_ + at;
  char *const first = to - (skip_ + at) % kPage;
  const uint64_t length = uint64_t(to + n - first);
  while (::madvise(first, length, MADV_POPULATE_WRITE) != 0)
    if (errno != EINTR) return false;
  std::memcpy(to, data, n);
  ::madvise(first, length, MADV_DONTNEED);  // the file keeps them: they are this process's memory no longer
  return true;
}

}  // namespace hd
