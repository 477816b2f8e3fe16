// An emulated device that tells of its copies. For the checks of what feeds a device and what it gives.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "device/device.h"

namespace hd {

// Something can happen at each copy beside the launches, of input before it is begun, of output before it is made.
class WatchedDevice final : public Device {
 public:
  explicit WatchedDevice(std::function<void(int)> at_copy) : at_copy_(std::move(at_copy)) {}
  int copies() const { return copies_; }

  const char *kind() const override { return device_->kind(); }
  uint32_t multiprocessors() const override { return device_->multiprocessors(); }
  uint64_t free_memory() override { return device_->free_memory(); }
  void limit_memory(uint64_t bytes, uint64_t sharers) override { device_->limit_memory(bytes, sharers); }
  void *allocate(uint64_t bytes) override { return device_->allocate(bytes); }
  void free(void *memory) noexcept override { device_->free(memory); }
  void *allocate_host(uint64_t bytes) override { return device_->allocate_host(bytes); }
  void free_host(void *memory) noexcept override { device_->free_host(memory); }
  void upload(void *to, const void *from, uint64_t bytes) override { device_->upload(to, from, bytes); }
  void download(void *to, const void *from, uint64_t bytes) override { device_->download(to, from, bytes); }
  void fill(void *to, uint8_t byte, uint64_t bytes) override { device_->fill(to, byte, bytes); }
  void copy(void *to, const void *from, uint64_t bytes) override { device_->copy(to, from, bytes); }
  void open_copies(uint32_t slots) override { device_->open_copies(slots); }
  void begin_copies() override { device_->begin_copies(); }
  void await_copies(uint32_t lane) override { device_->await_copies(lane); }
  void begin_copy(uint32_t lane, uint32_t slot, void *to, const void *from, uint64_t bytes) override {
    at_copy_(++copies_);
    device_->begin_copy(lane, slot, to, from, bytes);
  }
  void finish_copy(uint32_t slot) override { device_->finish_copy(slot); }
  void open_copies_out(uint32_t slots) override { device_->open_copies_out(slots); }
  void begin_copies_out() override { device_->begin_copies_out(); }
  void copy_out(uint32_t slot, void *to, const void *from, uint64_t bytes) override {
    at_copy_(++copies_);
    device_->copy_out(slot, to, from, bytes);
  }
  uint64_t texture(const void *memory, uint64_t n, Texel texel) override { return device_->texture(memory, n, texel); }
  void free_texture(uint64_t texture) noexcept override { device_->free_texture(texture); }
  void need_stack(uint64_t bytes) override { device_->need_stack(bytes); }
  const void *kernel(const std::string &module, const std::string &entry) override { return device_->kernel(module, entry); }
  uint32_t occupancy(const void *k, uint32_t threads, uint64_t shared) override { return device_->occupancy(k, threads, shared); }
  void launch(const DeviceLaunch &launch, void **arguments) override { device_->launch(launch, arguments); }
  void sync() override { device_->sync(); }
  void begin_timing() override {}
  void end_timing(double &) override {}
  void settle_timings() override {}
  void forget_timings() noexcept override {}
  void sort(SortBuffers &buffers, uint64_t n, int begin, int end) override { device_->sort(buffers, n, begin, end); }
  void scan(const uint32_t *values, uint64_t *sums, uint64_t n) override { device_->scan(values, sums, n); }
  uint64_t select(const uint8_t *flags, uint32_t *chosen, uint64_t n) override { return device_->select(flags, chosen, n); }

 private:
  const std::unique_ptr<Device> device_{emulated_device()};
  const std::function<void(int)> at_copy_;
  std::atomic<int> copies_ = 0;
};

}  // namespace hd
