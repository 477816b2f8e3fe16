// The parallel algorithms that the CUDA device takes from CUB: each in a file of its own, because one alone takes
// the compiler some ten seconds. All are called twice, first with `temporary` null to learn how many bytes they need.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "../host/device/device.h"

namespace hd {

// Stable radix sort by bits [begin_bit, end_bit). The second call swaps the pointers of `buffers` where the result is
// in the others.
cudaError_t radix_sort(void *temporary, size_t &bytes, SortBuffers &buffers, uint64_t n, int begin_bit, int end_bit,
                       cudaStream_t stream);
// sums[i] = values[0] + ... + values[i], in 64 bits.
cudaError_t inclusive_scan(void *temporary, size_t &bytes, const uint32_t *values, uint64_t *sums, uint64_t n,
                           cudaStream_t stream);
// Indices with flags[i] != 0 into `selected`, their number into *count (device memory).
cudaError_t select_flagged(void *temporary, size_t &bytes, const uint8_t *flags, uint32_t *selected, uint64_t *count,
                           uint64_t n, cudaStream_t stream);

}  // namespace hd
