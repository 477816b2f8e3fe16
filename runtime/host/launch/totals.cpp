#include "launch/totals.h"

#include <utility>

namespace hd {

TaskTotals::TaskTotals(GpuContext &context, const hd_blob &nothing)
    : context_(context), size_(nothing.size), kept_(context.device), last_(context.device) {
  if (size_ == 0) return;
  kept_.reserve(size_, 0);
  last_.reserve(size_, 0);
  context_.upload(kept_.data(), nothing.data, size_);
}

void *TaskTotals::begin() {
  if (size_ == 0) return nullptr;
  context_.device.copy(last_.data(), kept_.data(), size_);
  return last_.data();
}

void TaskTotals::keep() { std::swap(kept_, last_); }

std::string TaskTotals::bytes() const {
  std::string all(size_, '\0');
  if (size_) context_.download(all.data(), kept_.data(), size_);
  return all;
}

}  // namespace hd
