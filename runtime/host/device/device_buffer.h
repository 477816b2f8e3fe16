// Memory of a device, or host memory for its transfers, that is given back by itself.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "device/device.h"

namespace hd {

// The device has not the memory that a step needs. A smaller sub-split may fit.
struct OutOfDeviceMemory {
  uint64_t bytes;  // what could not be had
};

// An array of T that keeps its memory until it must grow. Contents are lost when it grows.
template <class T, void *(Device::*Allocate)(uint64_t), void (Device::*Free)(void *) noexcept>
class DeviceArray {
 public:
  explicit DeviceArray(Device &device) : device_(&device) {}
  ~DeviceArray() { reset(); }
  DeviceArray(DeviceArray &&other) noexcept
      : device_(other.device_), data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
  DeviceArray &operator=(DeviceArray &&other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }

  // Room for n elements; throws OutOfDeviceMemory. A fourth more is taken when it grows, if it can be had.
  T *reserve(uint64_t n) { return reserve(n, n / 4); }
  T *reserve(uint64_t n, uint64_t more) {
    if (n <= capacity_ && data_) return data_;
    reset();
    if (!take(n + more) && !take(n)) throw OutOfDeviceMemory{n * sizeof(T)};
    return data_;
  }
  void reset() {
    if (data_) (device_->*Free)(data_);
    data_ = nullptr;
    capacity_ = 0;
  }
  T *data() const { return data_; }
  Device *device() const { return device_; }
  uint64_t capacity() const { return capacity_; }
  uint64_t bytes() const { return capacity_ * sizeof(T); }

 private:
  bool take(uint64_t n) {
    data_ = static_cast<T *>((device_->*Allocate)(std::max<uint64_t>(n, 1) * sizeof(T)));
    capacity_ = data_ ? n : 0;
    return data_;
  }

  Device *device_;
  T *data_ = nullptr;
  uint64_t capacity_ = 0;
};

template <class T>
using DeviceBuffer = DeviceArray<T, &Device::allocate, &Device::free>;
template <class T>
using HostBuffer = DeviceArray<T, &Device::allocate_host, &Device::free_host>;

// Like reserve(), but the first `used` elements stay.
template <class T>
void reserve_more(DeviceBuffer<T> &buffer, uint64_t used, uint64_t n) {
  if (n <= buffer.capacity()) return;
  DeviceBuffer<T> larger(*buffer.device());
  larger.reserve(std::max(n, 2 * buffer.capacity()));
  if (used) buffer.device()->copy(larger.data(), buffer.data(), used * sizeof(T));
  std::swap(buffer, larger);
}

}  // namespace hd
