// The CUDA device: hd::Device on the primary context of one GPU, by the CUDA runtime alone.
//
// Everything goes through one stream, so that the calls are in order without further care. Memory comes from the
// stream's pool, which keeps what is given back: a task allocates per sub-split, and cudaMalloc would synchronise each time.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "../host/device.h"
#include "algorithms.h"

namespace hd {
namespace {

void check(cudaError_t error, const char *what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

// Scratch memory of the algorithms: grows, is kept.
class Scratch {
 public:
  explicit Scratch(cudaStream_t stream) : stream_(stream) {}
  ~Scratch() { release(); }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  void *get(size_t bytes) {
    if (bytes > size_) {
      release();
      check(cudaMallocAsync(&memory_, bytes, stream_), "allocating scratch memory");
      size_ = bytes;
    }
    return memory_;
  }

 private:
  void release() noexcept {
    if (memory_ != nullptr) cudaFreeAsync(memory_, stream_);
    memory_ = nullptr;
    size_ = 0;
  }
  cudaStream_t stream_;
  void *memory_ = nullptr;
  size_t size_ = 0;
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int ordinal) {
    check(cudaSetDevice(ordinal), "opening the GPU");
    check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, ordinal), "asking the GPU");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
    keep_memory(ordinal);
    scratch_ = std::make_unique<Scratch>(stream_);
    check(cudaMallocAsync(reinterpret_cast<void **>(&count_), sizeof *count_, stream_), "allocating memory");
  }

  ~CudaDevice() override {
    cudaStreamSynchronize(stream_);
    scratch_.reset();
    cudaFreeAsync(count_, stream_);
    cudaStreamSynchronize(stream_);
    for (auto &[path, library] : libraries_) cudaLibraryUnload(library);
    cudaStreamDestroy(stream_);
  }

  const char *kind() const override { return "cuda"; }
  uint32_t multiprocessors() const override { return static_cast<uint32_t>(multiprocessors_); }

  uint64_t free_memory() override {
    size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "asking for free memory");
    uint64_t reserved = 0, used = 0;
    check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved), "asking the memory pool");
    check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used), "asking the memory pool");
    return free + (reserved - used);
  }

  void *allocate(uint64_t bytes) override {
    void *memory = nullptr;
    const cudaError_t error = cudaMallocAsync(&memory, bytes == 0 ? 1 : bytes, stream_);
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      return nullptr;
    }
    check(error, "allocating GPU memory");
    return memory;
  }

  void free(void *memory) noexcept override {
    if (memory != nullptr) cudaFreeAsync(memory, stream_);
  }

  void *allocate_host(uint64_t bytes) override {
    void *memory = nullptr;
    if (cudaHostAlloc(&memory, bytes == 0 ? 1 : bytes, cudaHostAllocDefault) == cudaSuccess) return memory;
    cudaGetLastError();
    return nullptr;
  }

  void free_host(void *memory) noexcept override {
    if (memory != nullptr) cudaFreeHost(memory);
  }

  void upload(void *to, const void *from, uint64_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), "copying to the GPU");
    sync();
  }

  void download(void *to, const void *from, uint64_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_), "copying from the GPU");
    sync();
  }

  void fill(void *to, uint8_t byte, uint64_t bytes) override {
    check(cudaMemsetAsync(to, byte, bytes, stream_), "filling GPU memory");
  }

  void copy(void *to, const void *from, uint64_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_), "copying GPU memory");
  }

  uint64_t texture(const void *memory, uint64_t bytes, Texel texel) override {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = const_cast<void *>(memory);
    resource.res.linear.sizeInBytes = bytes;
    const int bits = static_cast<int>(texel.bytes == 8 ? 4 : texel.bytes) * 8;
    static constexpr cudaChannelFormatKind kinds[] = {cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned,
                                                      cudaChannelFormatKindFloat};
    resource.res.linear.desc = cudaCreateChannelDesc(bits, texel.bytes == 8 ? bits : 0, 0, 0, kinds[texel.kind]);
    cudaTextureDesc how{};
    how.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture = 0;
    check(cudaCreateTextureObject(&texture, &resource, &how, nullptr), "creating a texture object");
    return texture;
  }

  void free_texture(uint64_t texture) noexcept override {
    cudaStreamSynchronize(stream_);  // a kernel may still fetch from it
    cudaDestroyTextureObject(texture);
  }

  void need_stack(uint64_t bytes) override {
    size_t now = 0;
    check(cudaDeviceGetLimit(&now, cudaLimitStackSize), "asking for the stack's size");
    if (bytes > now) check(cudaDeviceSetLimit(cudaLimitStackSize, bytes), "giving threads a larger stack");
  }

  const void *kernel(const std::string &module, const std::string &entry) override {
    cudaKernel_t kernel = nullptr;
    check(cudaLibraryGetKernel(&kernel, library(module), entry.c_str()), (module + ": kernel " + entry).c_str());
    return kernel;
  }

  uint32_t occupancy(const void *kernel, uint32_t threads, uint64_t shared_bytes) override {
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(threads), shared_bytes),
          "asking for a kernel's occupancy");
    return blocks < 1 ? 1 : static_cast<uint32_t>(blocks);
  }

  void launch(const DeviceLaunch &launch, void **arguments) override {
    check(cudaLaunchKernel(launch.kernel, dim3(launch.blocks), dim3(launch.threads), arguments, launch.shared_bytes, stream_),
          "launching a kernel");
  }

  void sync() override { check(cudaStreamSynchronize(stream_), "running kernels"); }

  void sort(SortBuffers &buffers, uint64_t n, int begin_bit, int end_bit) override {
    if (n < 2 || begin_bit >= end_bit) return;
    size_t bytes = 0;
    check(radix_sort(nullptr, bytes, buffers, n, begin_bit, end_bit, stream_), "sorting");
    check(radix_sort(scratch_->get(bytes), bytes, buffers, n, begin_bit, end_bit, stream_), "sorting");
  }

  void scan(const uint32_t *values, uint64_t *sums, uint64_t n) override {
    fill(sums, 0, sizeof *sums);
    if (n == 0) return;
    size_t bytes = 0;
    check(inclusive_scan(nullptr, bytes, values, sums + 1, n, stream_), "adding up");
    check(inclusive_scan(scratch_->get(bytes), bytes, values, sums + 1, n, stream_), "adding up");
  }

  uint64_t select(const uint8_t *flags, uint32_t *selected, uint64_t n) override {
    if (n == 0) return 0;
    size_t bytes = 0;
    check(select_flagged(nullptr, bytes, flags, selected, count_, n, stream_), "selecting");
    check(select_flagged(scratch_->get(bytes), bytes, flags, selected, count_, n, stream_), "selecting");
    uint64_t count = 0;
    download(&count, count_, sizeof count);
    return count;
  }

 private:
  void keep_memory(int ordinal) {
    check(cudaDeviceGetDefaultMemPool(&pool_, ordinal), "asking for the memory pool");
    uint64_t everything = UINT64_MAX;
    check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &everything), "setting up the memory pool");
  }

  cudaLibrary_t library(const std::string &path) {
    const auto known = libraries_.find(path);
    if (known != libraries_.end()) return known->second;
    cudaLibrary_t library = nullptr;
    check(cudaLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0), path.c_str());
    libraries_.emplace(path, library);
    return library;
  }

  int multiprocessors_ = 0;
  cudaStream_t stream_ = nullptr;
  cudaMemPool_t pool_ = nullptr;
  std::unique_ptr<Scratch> scratch_;
  uint64_t *count_ = nullptr;
  std::map<std::string, cudaLibrary_t> libraries_;
};

}  // namespace
}  // namespace hd

extern "C" hd::Device *hd_cuda_device(int ordinal, char *error, uint64_t error_size) {
  try {
    return new hd::CudaDevice(ordinal);
  } catch (const std::exception &failure) {
    std::snprintf(error, error_size, "%s", failure.what());
    return nullptr;
  }
}
