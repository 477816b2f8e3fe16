#include "ifile/segment_reader.h"

#include <algorithm>
#include <cstring>

#include "base/crc32.h"
#include "ifile/ifile.h"
#include "base/key_words.h"

namespace hd {

void SegmentReader::damaged(const char *what) const {
  throw Error(kIoError, "map output is damaged: " + file_->path() + ", segment at byte " + std::to_string(start_) + ": " + what);
}

void SegmentReader::open(std::shared_ptr<const InputFile> file, const Segment &segment, size_t buffer_bytes,
                         const Cancel &cancel) {
  file_ = std::move(file);
  cancel_ = &cancel;
  start_ = offset_ = segment.start;
  if (segment.raw_length < 2 || segment.part_length != segment.raw_length + 4) damaged("the index gives impossible lengths");
  unread_ = segment.raw_length;
  const size_t want = size_t(std::min<uint64_t>(std::max<size_t>(buffer_bytes, 64), unread_));
  if (want > capacity_) buffer_.reset(new char[capacity_ = want]);
  at_ = end_ = buffer_.get();
  crc_ = 0;
  key_length_ = 0;
  prefix_ = 0;
  first_ = true;
}

// Makes at least `need` bytes available, which the body must still have.
void SegmentReader::fetch(uint64_t need) {
  if (need > left()) damaged("a record runs beyond its end");
  cancel_->check();
  if (!first_) {
    kept_key_.assign(key_, key_length_);
    key_ = kept_key_.data();
  }
  const size_t have = size_t(available());
  if (need > capacity_) {  // one record larger than the buffer
    std::unique_ptr<char[]> larger(new char[need]);
    memcpy(larger.get(), at_, have);
    buffer_ = std::move(larger);
    capacity_ = need;
  } else {
    memmove(buffer_.get(), at_, have);
  }
  const size_t n = size_t(std::min<uint64_t>(capacity_ - have, unread_));
  file_->read(buffer_.get() + have, n, offset_);
  crc_ = crc32(crc_, buffer_.get() + have, n);
  offset_ += n;
  unread_ -= n;
  at_ = buffer_.get();
  end_ = at_ + have + n;
}

// Reads the lengths of the next record; returns the header's size, 0 at the end mark.
uint64_t SegmentReader::header() {
  if (available() < 2 * kMaxVint && unread_) fetch(std::min<uint64_t>(left(), 2 * kMaxVint));
  int64_t key_bytes, value_bytes;
  const size_t a = get_vint(at_, end_, key_bytes), b = a ? get_vint(at_ + a, end_, value_bytes) : 0;
  if (b == 0) damaged("it ends without its end mark");
  if (key_bytes == -1 && value_bytes == -1) {
    at_ += a + b;
    finish();
    return 0;
  }
  const int64_t most = INT32_MAX;
  if (key_bytes < 1 || value_bytes < 1 || key_bytes > most || value_bytes > most) damaged("impossible record length");
  key_bytes_ = uint64_t(key_bytes);
  value_bytes_ = uint64_t(value_bytes);
  return a + b;
}

void SegmentReader::finish() {
  if (left() != 0) damaged("data after its end mark");
  char bytes[4];
  file_->read(bytes, 4, offset_);
  uint32_t stored = 0;
  for (char c : bytes) stored = stored << 8 | uint8_t(c);
  if (stored != crc_) damaged("checksum error");
}

// The Text of `length` serialised bytes at p.
inline const char *SegmentReader::text(const char *p, uint64_t length, uint32_t &text_length) const {
  int64_t n;
  const size_t vint = get_vint(p, p + length, n);
  if (vint == 0 || n < 0 || uint64_t(n) + vint != length) damaged("a Text's length does not fit its record");
  text_length = uint32_t(n);
  return p + vint;
}

// Takes the record's key after checking it against the one before, whose bytes are still there.
inline void SegmentReader::set_key(const char *key, uint32_t length) {
  const uint64_t prefix = ordered(load_words(key, std::min<size_t>(length, 8)).lo);
  if (prefix > prefix_ || first_) {
    same_key_ = false;
  } else {
    if (prefix < prefix_) damaged("keys are not in order");
    const int order = std::string_view(key, length).compare(std::string_view(key_, key_length_));
    if (order < 0) damaged("keys are not in order");
    same_key_ = order == 0;
  }
  first_ = false;
  key_ = key;
  key_length_ = length;
  prefix_ = prefix;
}

bool SegmentReader::next() {
  const char *p = at_;
  // Almost every record: two lengths of one byte each, and the whole of it in the buffer.
  const bool small = end_ - p >= 2 && static_cast<signed char>(p[0]) > 0 && static_cast<signed char>(p[1]) > 0 &&
                     end_ - p >= 2 + p[0] + p[1];
  uint64_t head = 2;
  if (small) {
    key_bytes_ = uint8_t(p[0]);
    value_bytes_ = uint8_t(p[1]);
  } else {
    head = header();
    if (head == 0) return false;
    const uint64_t record = head + key_bytes_ + value_bytes_;
    if (available() < record) fetch(record);
    p = at_;
  }
  p += head;
  uint32_t key_length;
  const char *key = text(p, key_bytes_, key_length);
  value_ = text(p + key_bytes_, value_bytes_, value_length_);
  at_ = p + key_bytes_ + value_bytes_;
  set_key(key, key_length);
  return true;
}

}  // namespace hd
