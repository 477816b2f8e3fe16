#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include "algorithms.h"

namespace hd {

cudaError_t select_flagged(void *temporary, size_t &bytes, const uint8_t *flags, uint32_t *selected, uint64_t *count,
                           uint64_t n, cudaStream_t stream) {
  const thrust::counting_iterator<uint32_t> indices(0);
  return cub::DeviceSelect::Flagged(temporary, bytes, indices, flags, selected, count, static_cast<int64_t>(n), stream);
}

}  // namespace hd
