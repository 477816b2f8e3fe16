#include "ifile/ifile.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/crc32.h"
#include "base/key_words.h"

namespace hd {
namespace {

constexpr size_t kWarm = 256 << 10;    // is still in the cache when it is written after it was summed up

char *put_be64(char *p, uint64_t v) {
  for (int shift = 56; shift >= 0; shift -= 8) *p++ = char(v >> shift);
  return p;
}

uint64_t get_be64(const char *p) {
  uint64_t v = 0;
  for (int i = 0; i < 8; ++i) v = v << 8 | uint8_t(p[i]);
  return v;
}

size_t vint_size(int64_t v) {
  if (v >= -112 && v <= 127) return 1;
  return 1 + size_t(71 - std::countl_zero(uint64_t(v < 0 ? ~v : v))) / 8;
}

size_t serialized(std::string_view text) { return vint_size(int64_t(text.size())) + text.size(); }

// One record at p; returns its end. The caller has made room, and kShort bytes more.
char *put_record(char *p, std::string_view key, std::string_view value) {
  if (std::max(key.size(), value.size()) < 127) [[likely]] {  // every length is one byte
    *p++ = char(key.size() + 1);
    *p++ = char(value.size() + 1);
    *p++ = char(key.size());
    p = copy_text(p, key.data(), key.size());
    *p++ = char(value.size());
    return copy_text(p, value.data(), value.size());
  }
  p = put_vint(p, int64_t(serialized(key)));
  p = put_vint(p, int64_t(serialized(value)));
  p = put_vint(p, int64_t(key.size()));
  p = static_cast<char *>(memcpy(p, key.data(), key.size())) + key.size();
  p = put_vint(p, int64_t(value.size()));
  return static_cast<char *>(memcpy(p, value.data(), value.size())) + value.size();
}

}  // namespace

char *put_vint(char *p, int64_t v) {
  if (v >= -112 && v <= 127) {
    *p = char(v);
    return p + 1;
  }
  const uint64_t magnitude = uint64_t(v < 0 ? ~v : v);
  const int bytes = (71 - std::countl_zero(magnitude)) / 8;
  *p++ = char((v < 0 ? -120 : -112) - bytes);
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) *p++ = char(magnitude >> shift);
  return p;
}

size_t get_vint(const char *p, const char *end, int64_t &v) {
  if (p == end) return 0;
  const int first = static_cast<signed char>(*p);
  if (first >= -112) {
    v = first;
    return 1;
  }
  const int bytes = first >= -120 ? -112 - first : -120 - first;
  if (end - p < 1 + bytes) return 0;
  uint64_t magnitude = 0;
  for (int i = 1; i <= bytes; ++i) magnitude = magnitude << 8 | uint8_t(p[i]);
  v = first >= -120 ? int64_t(magnitude) : int64_t(~magnitude);
  return size_t(1 + bytes);
}

std::string encode_index(const std::vector<IndexEntry> &index) {
  std::string bytes(index.size() * 24 + 8, '\0');
  char *p = bytes.data();
  for (const IndexEntry &e : index) p = put_be64(put_be64(put_be64(p, e.start), e.raw_length), e.part_length);
  put_be64(p, crc32(0, bytes.data(), bytes.size() - 8));
  return bytes;
}

std::vector<IndexEntry> read_index(const std::string &path) {
  const InputFile file(path);
  const uint64_t size = file.size();
  if (size < 8 || size % 24 != 8) throw Error(kIoError, path + ": an index file can not have " + std::to_string(size) + " bytes");
  std::string bytes(size, '\0');
  file.read(bytes.data(), size, 0);
  if (get_be64(bytes.data() + size - 8) != crc32(0, bytes.data(), size - 8))
    throw Error(kIoError, path + ": the index file's checksum does not match its contents");
  std::vector<IndexEntry> index(size / 24);
  const char *p = bytes.data();
  for (IndexEntry &e : index) {
    e = {get_be64(p), get_be64(p + 8), get_be64(p + 16)};
    p += 24;
  }
  return index;
}

void check_text_size(std::string_view key, std::string_view value) {
  if (const uint64_t n = std::max(key.size(), value.size()); n > kMaxText)
    throw Error(kBadInput, "a key or value of " + std::to_string(n) + " bytes is larger than a Hadoop record can be");
}

void replicate(char *p, size_t n, uint64_t times) {
  const size_t total = n * times;
  for (size_t have = n; have < total;) {
    const size_t more = std::min(have, total - have);
    memcpy(p + have, p, more);
    have += more;
  }
}

IFileWriter::IFileWriter(const std::string &path, size_t buffer_bytes, const Cancel &cancel)
    : file_(path), cancel_(cancel), capacity_(std::max<size_t>(buffer_bytes, 4096)), buffer_(new char[capacity_]) {}

void IFileWriter::append(std::string_view key, std::string_view value, uint64_t count) {
  records_ += count;
  const size_t most = key.size() + value.size() + 4 * kMaxVint + kShort;
  if (most > capacity_ / 4) {
    for (; count; --count) append_large(key, value);
    return;
  }
  if (capacity_ - used_ < most) flush();
  char *start = buffer_.get() + used_;
  const size_t n = size_t(put_record(start, key, value) - start);
  used_ += n;
  if (count > 1) repeat(n, count - 1);
}

// `count` more copies of the record of n bytes that ends the buffer.
void IFileWriter::repeat(size_t n, uint64_t count) {
  for (;;) {
    const uint64_t now = std::min<uint64_t>(count, (capacity_ - used_) / n);
    replicate(buffer_.get() + used_ - n, n, now + 1);
    used_ += n * now;
    count -= now;
    if (count == 0) return;
    const char *record = buffer_.get() + used_ - n;
    flush();  // keeps the bytes in place
    memmove(buffer_.get(), record, n);
    used_ = n;
    --count;
  }
}

void IFileWriter::append_large(std::string_view key, std::string_view value) {
  check_text_size(key, value);
  char head[2 * kMaxVint], *p = put_vint(put_vint(head, int64_t(serialized(key))), int64_t(serialized(value)));
  put(head, size_t(p - head));
  for (std::string_view text : {key, value}) {
    put(head, size_t(put_vint(head, int64_t(text.size())) - head));
    put(text.data(), text.size());
  }
}

void IFileWriter::put(const char *data, size_t n) {
  if (capacity_ - used_ < n) flush();
  if (n <= capacity_) {
    memcpy(buffer_.get() + used_, data, n);
    used_ += n;
    return;
  }
  for (size_t part; n; data += part, n -= part) {
    part = std::min(n, kWarm);
    crc_ = crc32(crc_, data, part);
    file_.write(data, part);
    flushed_ += part;
  }
}

void IFileWriter::flush() {
  cancel_.check();
  crc_ = crc32(crc_, buffer_.get() + crc_done_, used_ - crc_done_);
  file_.write(buffer_.get(), used_);
  flushed_ += used_;
  used_ = crc_done_ = 0;
}

void IFileWriter::end_partition() {
  put("\xff\xff", 2);
  const uint64_t raw = bytes() - segment_start_;
  crc_ = crc32(crc_, buffer_.get() + crc_done_, used_ - crc_done_);
  crc_done_ = used_;  // put may flush: nothing of this segment is left to count
  const char crc[4] = {char(crc_ >> 24), char(crc_ >> 16), char(crc_ >> 8), char(crc_)};
  put(crc, 4);
  crc_done_ = used_;
  crc_ = 0;
  index_.push_back({segment_start_, raw, raw + 4});
  segment_start_ = bytes();
}

void IFileWriter::commit(const std::string &index_path) {
  flush();
  commit_with_index(file_, index_, index_path);
}

void commit_with_index(OutputFile &file, const std::vector<IndexEntry> &index, const std::string &index_path) {
  if (index_path.empty()) return file.commit();
  OutputFile index_file(index_path);
  const std::string bytes = encode_index(index);
  index_file.write(bytes.data(), bytes.size());
  index_file.close();
  file.commit();
  try {
    index_file.commit();
  } catch (...) {
    std::remove(file.path().c_str());  // a data file without its index must not look finished
    throw;
  }
}

}  // namespace hd
