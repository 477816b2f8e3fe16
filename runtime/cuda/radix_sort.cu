#include <cub/device/device_radix_sort.cuh>

#include "algorithms.h"

namespace hd {

cudaError_t radix_sort(void *temporary, size_t &bytes, SortBuffers &buffers, uint64_t n, int begin_bit, int end_bit,
                       cudaStream_t stream) {
  cub::DoubleBuffer<uint64_t> keys(buffers.keys, buffers.other_keys);
  cub::DoubleBuffer<uint32_t> values(buffers.values, buffers.other_values);
  const cudaError_t error =
      cub::DeviceRadixSort::SortPairs(temporary, bytes, keys, values, n, begin_bit, end_bit, stream);
  if (temporary != nullptr && error == cudaSuccess) {
    buffers.keys = keys.Current();
    buffers.other_keys = keys.Alternate();
    buffers.values = values.Current();
    buffers.other_values = values.Alternate();
  }
  return error;
}

}  // namespace hd
