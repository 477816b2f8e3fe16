#include <cub/device/device_scan.cuh>

#include "algorithms.h"

namespace hd {
namespace {

struct Add {
  __host__ __device__ uint64_t operator()(uint64_t a, uint64_t b) const { return a + b; }
};

}  // namespace

// The initial value makes CUB add up in 64 bits: with InclusiveSum it would do so in the values' 32.
cudaError_t inclusive_scan(void *temporary, size_t &bytes, const uint32_t *values, uint64_t *sums, uint64_t n,
                           cudaStream_t stream) {
  return cub::DeviceScan::InclusiveScanInit(temporary, bytes, values, sums, Add(), uint64_t{0}, n, stream);
}

}  // namespace hd
