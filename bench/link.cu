// The link's ceiling: copies of pinned host memory to a GPU, GB/s, best of 5. Compiled and run by gpu_task.py.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>

int main() {
    const size_t bytes = size_t(1) << 30;
    void *host = nullptr, *device = nullptr;
    if (cudaHostAlloc(&host, bytes, cudaHostAllocDefault) != cudaSuccess) return 1;
    if (cudaMalloc(&device, bytes) != cudaSuccess) return 1;
    double best = 0;
    for (int run = 0; run < 5; ++run) {
        const auto begin = std::chrono::steady_clock::now();
        if (cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice) != cudaSuccess) return 1;
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        if (bytes / seconds.count() > best) best = bytes / seconds.count();
    }
    std::printf("%.1f\n", best / 1e9);
}
