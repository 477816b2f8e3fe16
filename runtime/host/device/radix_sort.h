// A stable radix sort of (key, value) pairs on a range of the key's bits, as plain code: the emulated device's.
#pragma once
#include <cstdint>

#include "device/device.h"

namespace hd {

// As Device::sort.
void radix_sort(SortBuffers &buffers, uint64_t n, int begin_bit, int end_bit);

}  // namespace hd
