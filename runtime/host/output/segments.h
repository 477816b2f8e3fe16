// The segments of an IFile that several threads write: where the records of a run lie in it, end marks and checksums.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "base/file_io.h"
#include "ifile/ifile.h"

namespace hd {

// Segment p: bytes [start[p], start[p + 1]) of the run, and what ends a segment. The file is written in pieces of one size.
class RunSegments {
 public:
  RunSegments(std::vector<uint64_t> start, uint64_t piece);
  uint64_t bytes() const { return begin(count_); }  // of the file
  // Bytes of the run that come before byte `at` of the file.
  uint64_t data_before(uint64_t at) const;
  // `room`: bytes [from, from + n) of the file, a piece; its end holds the data that is in it, which are put in their places,
  // with the ends of the segments that lie in this piece as a whole. Several pieces at a time.
  void place(char *room, uint64_t from, uint64_t n);
  // When all pieces are in the file: the ends of the other segments.
  void finish(const OutputFile &file) const;
  std::vector<IndexEntry> index() const;

 private:
  static constexpr uint64_t kEnd = 6;  // bytes behind a segment's records: the end mark and the checksum
  // What a piece has of a segment that it does not hold as a whole: the first one and the last one can be such.
  struct Part {
    uint64_t segment = kNone, bytes = 0;
    uint32_t sum = 0;
  };
  static constexpr uint64_t kNone = UINT64_MAX;

  uint64_t begin(uint64_t p) const { return start_[p] + kEnd * p; }
  uint64_t length(uint64_t p) const { return start_[p + 1] - start_[p]; }
  uint64_t segment_at(uint64_t at) const;

  const std::vector<uint64_t> start_;
  const uint64_t count_, piece_;
  std::vector<std::array<Part, 2>> parts_;  // by piece
};

}  // namespace hd
