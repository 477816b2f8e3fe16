// Kernels that are wrong, each in one way.

extern "C" __global__ void not_in_own_mask() { __syncwarp(0xfffffffeu); }
HD_KERNEL(not_in_own_mask)

extern "C" __global__ void ended_before(unsigned lane) {
    if (threadIdx.x == lane) return;
    __syncwarp();
}
HD_KERNEL(ended_before, unsigned)

extern "C" __global__ void gone_before(unsigned lane) {
    if (threadIdx.x == lane) hd_emu_exit_lane();
    __syncwarp();
}
HD_KERNEL(gone_before, unsigned)

extern "C" __global__ void masks_differ() {
    if (threadIdx.x < 16) __ballot_sync(0xffffffffu, 1);
    else __ballot_sync(0xffff0001u, 1);
}
HD_KERNEL(masks_differ)

extern "C" __global__ void collectives_differ() {
    if (threadIdx.x < 16) __ballot_sync(0xffffffffu, 1);
    else __syncwarp();
}
HD_KERNEL(collectives_differ)

extern "C" __global__ void barrier_and_collective() {
    if (threadIdx.x == 0) __syncwarp();
    __syncthreads();
}
HD_KERNEL(barrier_and_collective)

extern "C" __global__ void returned_before_barrier(unsigned thread) {
    if (threadIdx.x == thread) return;
    __syncthreads();
}
HD_KERNEL(returned_before_barrier, unsigned)

extern "C" __global__ void two_barriers() {
    if (threadIdx.x < 32)
        __syncthreads();
    else
        __syncthreads();
}
HD_KERNEL(two_barriers)

// The sum of a block, without the barrier between writing and reading.
extern "C" __global__ void missing_barrier(unsigned *out) {
    HD_SHARED_ARRAY(unsigned, value, 64);
    value[threadIdx.x] = threadIdx.x;
    const unsigned other = value[63 - threadIdx.x];
    out[threadIdx.x] = other;
}
HD_KERNEL(missing_barrier, unsigned *)

// A prefix sum in shared memory that counts on the lanes of a warp being in step.
extern "C" __global__ void in_step(unsigned *out) {
    HD_SHARED_ARRAY(unsigned, sum, 32);
    sum[threadIdx.x] = 1;
    __syncwarp();
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        if (threadIdx.x >= distance) sum[threadIdx.x] += sum[threadIdx.x - distance];
        __syncwarp();
    }
    out[threadIdx.x] = sum[threadIdx.x];
}
HD_KERNEL(in_step, unsigned *)

// Lane 31 reads from a lane outside of the mask.
extern "C" __global__ void shuffle_from_outside(unsigned *out) {
    if (threadIdx.x >= 16) out[threadIdx.x] = __shfl_sync(0xffff0000u, threadIdx.x, threadIdx.x == 31 ? 3 : 17);
}
HD_KERNEL(shuffle_from_outside, unsigned *)

extern "C" __global__ void shuffle_width() { __shfl_sync(0xffffffffu, 1, 0, 12); }
HD_KERNEL(shuffle_width)

extern "C" __global__ void reads_shared(unsigned *out) {
    HD_SHARED(unsigned, word);
    if (threadIdx.x == 0) out[blockIdx.x] = word;
    __syncthreads();
    word = 7;
}
HD_KERNEL(reads_shared, unsigned *)

extern "C" __global__ void reads_private(unsigned *out) {
    unsigned word[2];
    HD_FILL(word);
    out[threadIdx.x] = word[1];
}
HD_KERNEL(reads_private, unsigned *)

extern "C" __global__ void spin(unsigned *word) {
    if (threadIdx.x == 9)
        while (atomicCAS(word, 1u, 2u) != 1) {}
    __syncthreads();
}
HD_KERNEL(spin, unsigned *)

extern "C" __global__ void wait_for_next_block(unsigned *word) {
    if (blockIdx.x == gridDim.x - 1) atomicExch(word, 1u);
    while (atomicAdd(word, 0u) == 0) {}
}
HD_KERNEL(wait_for_next_block, unsigned *)

__device__ __attribute__((noinline)) unsigned deep(unsigned n) {
    volatile char here[4096];
    here[n % 4096] = 1;
    return n == 0 ? 1 : deep(n - 1) + here[n % 4096];
}

extern "C" __global__ void recursion(unsigned depth, unsigned *out) {
    if (threadIdx.x == 3) out[0] = deep(depth);
}
HD_KERNEL(recursion, unsigned, unsigned *)

extern "C" __global__ void write_at(unsigned *at) {
    if (threadIdx.x == 2) *at = 1;
}
HD_KERNEL(write_at, unsigned *)

extern "C" __global__ void divide(int by, int *out) { out[threadIdx.x] = 5 / by; }
HD_KERNEL(divide, int, int *)

extern "C" __global__ void add_to_its_own(unsigned *out) {
    unsigned own[2] = {1, 2};
    atomicAdd(&own[*out & 1], 1u);
    *out = own[0] + own[1];
}
HD_KERNEL(add_to_its_own, unsigned *)

extern "C" __global__ void add_at(char *at) { atomicAdd(reinterpret_cast<unsigned *>(at), 1u); }
HD_KERNEL(add_at, char *)

extern "C" __global__ void too_much_shared() {
    HD_SHARED_ARRAY(char, large, 300 * 1024);
    large[threadIdx.x] = 1;
}
HD_KERNEL(too_much_shared)

// Only for AddressSanitizer: within mapped memory, outside of the object.
extern "C" __global__ void beyond_shared(unsigned n) {
    HD_SHARED_ARRAY(char, small, 20);
    HD_SHARED_ARRAY(char, other, 20);
    small[n] = other[0];
}
HD_KERNEL(beyond_shared, unsigned)

extern "C" __global__ void beyond_global(char *at) {
    __syncwarp();
    if (threadIdx.x == 1) *at = 1;
}
HD_KERNEL(beyond_global, char *)

extern "C" __global__ void beyond_private(unsigned n, char *out) {
    char small[20];
    HD_FILL(small);
    __syncwarp();
    small[n + threadIdx.x] = 1;
    out[threadIdx.x] = small[threadIdx.x % 20];
}
HD_KERNEL(beyond_private, unsigned, char *)
