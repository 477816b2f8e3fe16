// Hadoop's IFile with Text keys and values, and its index (Hadoop 3: IFile.java, SpillRecord.java; no codec).
//
//   segment := { vint(klen) vint(vlen) key value }* vint(-1) vint(-1) CRC32     one per partition, empty ones too
//   key, value := vint(n) bytes[n]                                              what klen and vlen count
//   index := { int64 start, int64 raw length, int64 part length }* int64 CRC32  all big-endian
//
// The raw length counts the end mark but not the CRC; without a codec the part length is raw + 4.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/common.h"
#include "base/file_io.h"

namespace hd {

constexpr size_t kMaxVint = 9;                      // bytes of the longest Hadoop vlong
constexpr uint64_t kMaxText = (1u << 31) - 1 - 16;  // a record's lengths are Java ints

// Writes v at p, returns the end.
char *put_vint(char *p, int64_t v);
// Reads one; returns the bytes taken, 0 when [p, end) holds only a part of it.
size_t get_vint(const char *p, const char *end, int64_t &v);

struct IndexEntry {
  uint64_t start = 0, raw_length = 2, part_length = 6;
};

// The index file's bytes.
std::string encode_index(const std::vector<IndexEntry> &index);
// Throws Error kIoError on a wrong size or CRC.
std::vector<IndexEntry> read_index(const std::string &path);

// Gives a whole file its name, then the index its own; both or none. No index_path, no index file.
void commit_with_index(OutputFile &file, const std::vector<IndexEntry> &index, const std::string &index_path);

// Writes the segments of one file in partition order.
class IFileWriter {
 public:
  IFileWriter(const std::string &path, size_t buffer_bytes, const Cancel &cancel);
  // The pair `count` times. Keys must come in order; who calls sees to it. Throws Error kBadInput beyond kMaxText.
  void append(std::string_view key, std::string_view value, uint64_t count = 1);
  // Ends the current partition (also an empty one).
  void end_partition();
  // Flushes; then commit_with_index.
  void commit(const std::string &index_path = "");

  uint64_t records() const { return records_; }
  uint64_t bytes() const { return flushed_ + used_; }
  const std::vector<IndexEntry> &index() const { return index_; }

 private:
  void flush();
  void put(const char *data, size_t n);
  void append_large(std::string_view key, std::string_view value);
  void repeat(size_t n, uint64_t count);

  OutputFile file_;
  const Cancel &cancel_;
  size_t capacity_;
  std::unique_ptr<char[]> buffer_;
  size_t used_ = 0, crc_done_ = 0;  // buffer bytes in use; of these, already in crc_
  uint32_t crc_ = 0;                // of the current segment
  uint64_t flushed_ = 0, segment_start_ = 0, records_ = 0;
  std::vector<IndexEntry> index_;
};

// Throws Error kBadInput when a key or value is larger than kMaxText.
void check_text_size(std::string_view key, std::string_view value);

// Fills [p + n, p + n * times) with copies of [p, p + n).
void replicate(char *p, size_t n, uint64_t times);

}  // namespace hd
