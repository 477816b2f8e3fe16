// The input of a task on a device where it is a file of lines: read by several threads, ahead of the kernels.
#pragma once
#include <cstdint>
#include <deque>

#include "input/ingest.h"
#include "input/ingest_cuts.h"

namespace hd {

// The device gets the bytes of the file. While kernels work on one sub-split, the readers fill the other texts with the next ones.
class FileIngest final : public Ingest {
 public:
  FileIngest(IngestRoom &room, const RecordOptions &records, const IngestOptions &options, const Cancel &cancel);
  ~FileIngest() override;

  SubSplit next() override;
  bool ended() const override { return at_ == cuts_.end(); }
  void limit(uint64_t bytes) override;
  uint64_t middle(const SubSplit &s) override;
  void read(const SubSplit &s) override;
  DeviceText bring(const SubSplit &s) override;
  void release() override;
  void keep() override { keeper_.keep(cuts_.bytes()); }
  uint64_t records(uint64_t lines) const override { return lines; }
  uint64_t bytes() const override { return ended() ? cuts_.bytes() : at_ - cuts_.begin(); }

 private:
  SubSplit cut(uint64_t from);
  uint64_t share(uint64_t left);
  void begin(uint32_t lane, const SubSplit &s);
  void look_ahead();

  IngestRoom &room_;
  const RecordOptions records_;
  TextKeeper keeper_;      // it has asked the file before that is opened
  const SplitFile file_;
  RecordCuts cuts_;
  const Cancel cancel_;
  const int32_t delimiter_;
  const uint64_t longest_;  // bytes of a record; 0: no limit
  uint64_t target_, first_, most_;  // bytes of a sub-split: usually, of the first one, of the next one
  uint64_t at_;            // next() has given what comes before
  uint32_t lane_ = 0;      // of what next() gave last: a text, and the copies into it
  SubSplit held_[kCopyLanes];  // what each text holds, or is being filled with
  std::deque<SubSplit> ahead_;  // what next() gives next, as far as that is decided: the texts behind this lane have it
  bool alone_ = false;     // memory is short: no more is read ahead
};

}  // namespace hd
