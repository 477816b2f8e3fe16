#include "base/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <system_error>

#include "base/common.h"

namespace hd {

void throw_io(const char *verb, const std::string &path, int error_number) {
  const std::string reason = std::generic_category().message(error_number);  // strerror shares its buffer
  throw Error(kIoError, "cannot " + std::string(verb) + " " + path + ": " + reason, error_number);
}

OutputFile::OutputFile(const std::string &path, unsigned mode) : path_(path), temporary_(path + ".tmp") {
  fd_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, mode);  // a mapping reads, too
  if (fd_ < 0) throw_io("create", temporary_, errno);
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!committed_) ::unlink(temporary_.c_str());
}

void OutputFile::write(const char *data, size_t n) {
  while (n > 0) {
    const ssize_t done = ::write(fd_, data, n);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) cannot_write(errno);
    data += done;
    n -= size_t(done);
  }
}

uint64_t OutputFile::extend(uint64_t n) {
  const off_t at = ::lseek(fd_, 0, SEEK_CUR);
  if (at < 0 || ::lseek(fd_, off_t(n), SEEK_CUR) < 0) cannot_write(errno);
  return uint64_t(at);
}

void OutputFile::write_at(const char *data, size_t n, uint64_t at) const {
  while (n > 0) {
    const ssize_t done = ::pwrite(fd_, data, n, off_t(at));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) cannot_write(errno);
    data += done;
    n -= size_t(done);
    at += uint64_t(done);
  }
}

void OutputFile::cannot_write(int error_number) const { throw_io("write", temporary_, error_number); }

void OutputFile::close() {
  if (fd_ < 0) return;
  const int fd = fd_;
  fd_ = -1;  // Linux frees the descriptor even when close fails
  if (::close(fd) != 0 && errno != EINTR) throw_io("close", temporary_, errno);
}

void OutputFile::commit() {
  close();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw_io("rename to", path_, errno);
  committed_ = true;
}

InputFile::InputFile(const std::string &path) : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0) throw_io("open", path_, errno);
}

InputFile::~InputFile() { ::close(fd_); }

void InputFile::read(char *to, size_t n, uint64_t offset) const {
  while (n > 0) {
    const ssize_t done = ::pread(fd_, to, n, off_t(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) throw_io("read", path_, errno);
    if (done == 0) throw Error(kIoError, path_ + " ends at byte " + std::to_string(offset) + ", before its data does");
    to += done;
    n -= size_t(done);
    offset += uint64_t(done);
  }
}

uint64_t InputFile::size() const {
  struct stat status;
  if (::fstat(fd_, &status) != 0) throw_io("stat", path_, errno);
  return uint64_t(status.st_size);
}

}  // namespace hd
