// Kernels that are right: the same results in every order.
struct Pack {
    int a;
    double b;
    char text[5];
};

extern "C" __global__ void __launch_bounds__(256) block_sum(const int *in, unsigned n, int *out) {
    HD_SHARED_ARRAY(int, part, 32);
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % warpSize;
    int value = i < n ? in[i] : 0;
    for (unsigned distance = 16; distance; distance /= 2) value += __shfl_down_sync(0xffffffffu, value, distance);
    if (lane == 0) part[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    value = lane < blockDim.x / 32 ? part[lane] : 0;
    for (int distance = 16; distance; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
    if (lane == 0) atomicAdd(out, value);
}
HD_KERNEL(block_sum, const int *, unsigned, int *)

extern "C" __global__ void block_scan(const unsigned *in, unsigned *out) {
    HD_DYNAMIC_SHARED(memory);
    unsigned *sums = reinterpret_cast<unsigned *>(memory);
    const unsigned t = threadIdx.x;
    sums[t] = in[t];
    __syncthreads();
    for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
        const unsigned before = t >= distance ? sums[t - distance] : 0;
        __syncthreads();
        sums[t] += before;
        __syncthreads();
    }
    out[t] = sums[t];
}
HD_KERNEL(block_scan, const unsigned *, unsigned *)

extern "C" __global__ void warp_scan(const unsigned *in, unsigned *out) {
    unsigned value = in[threadIdx.x];
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const unsigned before = __shfl_up_sync(0xffffffffu, value, distance);
        if (threadIdx.x % 32 >= distance) value += before;
    }
    out[threadIdx.x] = value;
}
HD_KERNEL(warp_scan, const unsigned *, unsigned *)

// One shuffle of each kind: mode 0 to 3, with a width and a distance, of 8-byte values.
extern "C" __global__ void shuffle(int mode, int width, int distance, long long *out) {
    const long long value = (1ll << 40) + threadIdx.x;
    long long got = 0;
    if (mode == 0) got = __shfl_sync(0xffffffffu, value, distance, width);
    if (mode == 1) got = __shfl_up_sync(0xffffffffu, value, static_cast<unsigned>(distance), width);
    if (mode == 2) got = __shfl_down_sync(0xffffffffu, value, static_cast<unsigned>(distance), width);
    if (mode == 3) got = __shfl_xor_sync(0xffffffffu, value, distance, width);
    out[threadIdx.x] = got - (1ll << 40);
}
HD_KERNEL(shuffle, int, int, int, long long *)

extern "C" __global__ void votes(unsigned *out) {
    const unsigned lane = threadIdx.x % 32;
    unsigned *own = out + threadIdx.x * 8;
    own[0] = __ballot_sync(0xffffffffu, lane % 3 == 0);
    own[1] = static_cast<unsigned>(__any_sync(0xffffffffu, lane == 7));
    own[2] = static_cast<unsigned>(__all_sync(0xffffffffu, lane == 7));
    own[3] = __match_any_sync(0xffffffffu, lane / 5);
    if (lane < 16) own[4] = __ballot_sync(0x0000ffffu, 1);
    else own[4] = __ballot_sync(0xffff0000u, lane % 2);
    own[5] = static_cast<unsigned>(__syncthreads_count(lane == 1));
    own[6] = static_cast<unsigned>(__syncthreads_and(1) + 2 * __syncthreads_and(lane != 1));
    own[7] = static_cast<unsigned>(__syncthreads_or(0) + 2 * __syncthreads_or(lane == 1));
}
HD_KERNEL(votes, unsigned *)

// Two halves of a warp that meet among themselves before all meet: legal, although some wait elsewhere for a while.
extern "C" __global__ void nested_groups(unsigned *out) {
    unsigned found = 0;
    if (threadIdx.x < 8) {
        __syncwarp(0xffu);
        found = __shfl_sync(0xffu, threadIdx.x, 7);
    }
    __syncwarp();
    out[threadIdx.x] = found + __shfl_sync(0xffffffffu, found, 0);
}
HD_KERNEL(nested_groups, unsigned *)

// A lock that all lanes take, around a counter that is not atomic; a list that grows by compare and swap.
extern "C" __global__ void lock_and_list(unsigned *lock, unsigned *count, unsigned *head, unsigned *next,
                                         unsigned long long *low) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    while (atomicExch(lock, 1u)) __nanosleep(32);
    ++*count;
    __threadfence();
    atomicExch(lock, 0u);
    unsigned old = *head;
    for (unsigned seen; (seen = atomicCAS(head, old, i + 1)) != old; old = seen) {}
    next[i] = old;
    atomicMin(low, static_cast<unsigned long long>(1000 - i));
}
HD_KERNEL(lock_and_list, unsigned *, unsigned *, unsigned *, unsigned *, unsigned long long *)

__device__ __noinline__ void leave(unsigned depth, bool really) {
    if (depth > 0) leave(depth - 1, really);
    else if (really) hd_emu_exit_lane();
}

// Some lanes end deep in calls; the others' barrier does not wait for them.
extern "C" __global__ void exit_some(unsigned *out) {
    if (threadIdx.x % 3 == 1) leave(threadIdx.x % 8, true);
    atomicAdd(out, 1u);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, 1000u);
}
HD_KERNEL(exit_some, unsigned *)

extern "C" __global__ void geometry(unsigned *out, const Pack pack) {
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] =
        pack.a + static_cast<unsigned>(pack.b) + static_cast<unsigned>(pack.text[4]) + block * 100 + thread;
}
HD_KERNEL(geometry, unsigned *, Pack)

extern "C" __global__ void nothing() {}
HD_KERNEL(nothing)

extern "C" __global__ void take_items(unsigned *next, unsigned items, unsigned *sum) {
    for (unsigned i; (i = atomicAdd(next, 1u)) < items;) atomicAdd(sum, i & 1);
}
HD_KERNEL(take_items, unsigned *, unsigned, unsigned *)

extern "C" __global__ void many_barriers(unsigned rounds, unsigned *out) {
    for (unsigned i = 0; i < rounds; ++i) __syncthreads();
    out[threadIdx.x] = rounds;
}
HD_KERNEL(many_barriers, unsigned, unsigned *)

extern "C" __global__ void fetch(cudaTextureObject_t texture, int *out) {
    const int i = static_cast<int>(threadIdx.x) - 4;
    out[threadIdx.x] = tex1Dfetch<int2>(texture, i).y + __ldg(out + threadIdx.x);
}
HD_KERNEL(fetch, cudaTextureObject_t, int *)
