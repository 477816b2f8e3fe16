// The input of a task on a device where its text is in the device's memory already: nothing is read.
#pragma once
#include <memory>

#include "input/ingest.h"
#include "input/kept_texts.h"

namespace hd {

class KeptIngest final : public Ingest {
 public:
  KeptIngest(IngestRoom &room, std::shared_ptr<const KeptText> text, bool cr_ends, uint64_t sub_split);
  ~KeptIngest() override;

  SubSplit next() override;
  bool ended() const override { return at_ == text_->size; }
  void limit(uint64_t bytes) override;
  uint64_t middle(const SubSplit &s) override;
  void read(const SubSplit &) override {}
  DeviceText bring(const SubSplit &s) override;
  void release() override;
  bool kept() const override { return true; }
  uint64_t records(uint64_t lines) const override { return lines; }
  uint64_t bytes() const override { return text_->bytes; }

 private:
  uint64_t after(uint64_t x, uint64_t end);
  std::string host_copy(uint64_t from, uint64_t to);

  IngestRoom &room_;
  const std::shared_ptr<const KeptText> text_;
  const bool cr_ends_;
  uint64_t target_, at_ = 0;
};

}  // namespace hd
