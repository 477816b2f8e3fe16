#include "gpu/probe.h"

#include <stdexcept>
#include <string>
#include <vector>

#include "device/device_buffer.h"

namespace hd {
namespace {

constexpr uint64_t kCount = 1 << 14;
constexpr uint32_t kStep = 4097;  // odd: i * kStep takes every value below kCount once

[[noreturn]] void wrong(const char *what) { throw std::runtime_error(std::string("its probe gives a wrong ") + what); }

template <class T>
std::vector<T> back(Device &device, const T *from, uint64_t n) {
  std::vector<T> values(n);
  device.download(values.data(), from, n * sizeof(T));
  return values;
}

void probe_sort(Device &device) {
  DeviceBuffer<uint64_t> keys(device), other_keys(device);
  DeviceBuffer<uint32_t> values(device), other_values(device);
  std::vector<uint64_t> mixed(kCount);
  std::vector<uint32_t> places(kCount);
  for (uint32_t i = 0; i < kCount; ++i) {
    mixed[i] = uint64_t(i) * kStep % kCount;
    places[i] = i;
  }
  SortBuffers buffers{keys.reserve(kCount), other_keys.reserve(kCount), values.reserve(kCount), other_values.reserve(kCount)};
  device.upload(buffers.keys, mixed.data(), kCount * sizeof(uint64_t));
  device.upload(buffers.values, places.data(), kCount * sizeof(uint32_t));
  device.sort(buffers, kCount, 0, 64);
  const auto sorted = back(device, buffers.keys, kCount);
  const auto from = back(device, buffers.values, kCount);
  for (uint64_t i = 0; i < kCount; ++i)
    if (sorted[i] != i || mixed[from[i] % kCount] != i) wrong("order");
}

void probe_sums(Device &device) {
  DeviceBuffer<uint8_t> flags(device);
  DeviceBuffer<uint32_t> selected(device), ones(device);
  DeviceBuffer<uint64_t> sums(device);
  const std::vector<uint32_t> one(kCount, 1);
  device.fill(flags.reserve(kCount), 1, kCount);
  device.upload(ones.reserve(kCount), one.data(), kCount * sizeof(uint32_t));
  device.scan(ones.data(), sums.reserve(kCount + 1), kCount);
  if (device.select(flags.data(), selected.reserve(kCount), kCount) != kCount) wrong("selection");
  const auto totals = back(device, sums.data(), kCount + 1);
  const auto indices = back(device, selected.data(), kCount);
  for (uint64_t i = 0; i < kCount; ++i)
    if (totals[i + 1] != i + 1 || indices[i] != i) wrong("sum");
}

}  // namespace

void probe_device(Device &device) {
  probe_sort(device);
  probe_sums(device);
  device.sync();
}

}  // namespace hd
