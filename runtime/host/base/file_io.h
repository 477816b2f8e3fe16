// Files of the native runtime: whole writes, positioned reads, errors that name the path.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace hd {

// Throws Error kIoError "cannot <verb> <path>: <errno text>".
[[noreturn]] void throw_io(const char *verb, const std::string &path, int error_number);

// A file being written under a temporary name. Removed on destruction unless commit() gave it its own name.
class OutputFile {
 public:
  // 0640: map output is private to its job, as Hadoop's shuffle files are.
  explicit OutputFile(const std::string &path, unsigned mode = 0640);
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;
  void write(const char *data, size_t n);
  // Makes room for n bytes that write_at is to fill; what `write` writes comes behind them. Returns where they begin.
  uint64_t extend(uint64_t n);
  void write_at(const char *data, size_t n, uint64_t at) const;  // by any thread
  int fd() const { return fd_; }
  [[noreturn]] void cannot_write(int error_number) const;
  void close();   // reports what a late write error left (NFS, quota)
  void commit();  // closes and renames
  const std::string &path() const { return path_; }

 private:
  std::string path_, temporary_;
  int fd_ = -1;
  bool committed_ = false;
};

// A file open for reading; safe to share between readers, each with its own position.
class InputFile {
 public:
  explicit InputFile(const std::string &path);
  ~InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;
  // Exactly n bytes at `offset`; throws Error kIoError when the file ends before.
  void read(char *to, size_t n, uint64_t offset) const;
  uint64_t size() const;
  const std::string &path() const { return path_; }

 private:
  std::string path_;
  int fd_;
};

}  // namespace hd
