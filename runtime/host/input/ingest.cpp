#include "input/ingest.h"

#include <algorithm>

#include "input/ingest_file.h"
#include "input/ingest_kept.h"
#include "input/sub_splits.h"

namespace hd {
namespace {

// Text that the host has made: lines that end in \n, whatever ended the records.
class LineIngest final : public Ingest {
 public:
  LineIngest(IngestRoom &room, const RecordOptions &records, const IngestOptions &options, const Cancel &cancel)
      : room_(room), splits_(records, room.device, cancel), target_(options.sub_split) {}

  SubSplit next() override {
    lines_ = splits_.next(target_);
    return {0, lines_.size()};
  }
  bool ended() const override { return splits_.ended(); }
  void limit(uint64_t bytes) override { target_ = std::min(target_, bytes); }
  uint64_t middle(const SubSplit &s) override { return middle_line(lines_.substr(s.at, s.size)); }
  void read(const SubSplit &) override {}
  DeviceText bring(const SubSplit &s) override {
    char *const text = room_.text[0].reserve(s.size + kTextMargin);
    room_.device.fill(text + s.size, 0, kTextMargin);
    room_.device.upload(text, lines_.data() + s.at, s.size);
    return {text, s.size, '\n'};
  }
  void release() override {
    for (DeviceBuffer<char> &text : room_.text) text.reset();
  }
  uint64_t records(uint64_t) const override { return splits_.records(); }
  uint64_t bytes() const override { return splits_.bytes(); }

 private:
  IngestRoom &room_;
  SubSplits splits_;
  uint64_t target_;
  std::string_view lines_;
};

}  // namespace

std::unique_ptr<Ingest> open_ingest(IngestRoom &room, const RecordOptions &records, const IngestOptions &options,
                                    const Cancel &cancel) {
  const bool lines = records.delimiter.empty() || records.delimiter == "\n";
  if (records.fd >= 0 || !lines || records.skip_from) return std::make_unique<LineIngest>(room, records, options, cancel);
  const bool cr_ends = records.delimiter.empty();
  const auto key = options.keep_percent ? text_key(records) : std::nullopt;
  if (auto text = key ? room.kept->find(*key) : nullptr)
    return std::make_unique<KeptIngest>(room, std::move(text), cr_ends, options.sub_split);
  return std::make_unique<FileIngest>(room, records, options, cancel);
}

}  // namespace hd
