// The CUDA device: hd::Device on the primary context of one GPU, by the CUDA runtime alone.
//
// Everything but the copies of the input goes through one stream, so that the calls are in order without further care.
// Memory comes from the stream's pool, which keeps what is given back: a task allocates per sub-split, and cudaMalloc would
// synchronise each time.
#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "../host/device/device.h"
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

// A place in a stream that another stream, or a thread, waits for.
class Event {
 public:
  explicit Event(unsigned flags = cudaEventDisableTiming) {
    check(cudaEventCreateWithFlags(&event_, flags), "creating an event");
  }
  ~Event() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  Event(Event &&other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event(const Event &) = delete;

  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "marking a place in a stream"); }
  void wait(const char *what = "copying to the GPU") { check(cudaEventSynchronize(event_), what); }
  // Of two events with cudaEventDefault, both passed.
  double seconds_since(const Event &earlier) const {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, earlier.event_, event_), "timing a stage");
    return ms * 1e-3;
  }
  // What `later` does from now on comes behind what `earlier` has been given so far.
  void order(cudaStream_t earlier, cudaStream_t later) {
    record(earlier);
    hold(later);
  }
  // What `later` does from now on comes behind what was marked last.
  void hold(cudaStream_t later) { check(cudaStreamWaitEvent(later, event_, 0), "ordering two streams"); }

 private:
  cudaEvent_t event_ = nullptr;
};

// Copies to the GPU beside the device's stream: one stream, since of several the GPU takes the one that it is at, and a lane
// waited for the whole of the next one. An event for each lane, and for each slot that is copied from.
class Copies {
 public:
  Copies() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream for copies");
  }
  ~Copies() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  Copies(const Copies &) = delete;

  void open(uint32_t slots) {
    while (slots_.size() < slots) slots_.emplace_back();
  }
  void behind(cudaStream_t stream) { launched_.order(stream, stream_); }
  void before(cudaStream_t stream, uint32_t lane) {
    const std::lock_guard hold(lock_);
    lanes_[lane].hold(stream);
  }
  void begin(uint32_t lane, uint32_t slot, void *to, const void *from, uint64_t bytes) {
    const std::lock_guard hold(lock_);  // the lane's event stands behind the copy that is the last one in the stream
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), "copying to the GPU");
    slots_[slot].record(stream_);
    lanes_[lane].record(stream_);
  }
  void finish(uint32_t slot) { slots_[slot].wait(); }

 private:
  cudaStream_t stream_ = nullptr;
  Event launched_, lanes_[kCopyLanes];
  std::mutex lock_;
  std::vector<Event> slots_;
};

// Copies from the GPU beside the device's stream, in a stream of their own: the link has two ways.
class CopiesOut {
 public:
  CopiesOut() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream for copies"); }
  ~CopiesOut() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  CopiesOut(const CopiesOut &) = delete;

  void open(uint32_t slots) {
    while (slots_.size() < slots) slots_.emplace_back();
  }
  void behind(cudaStream_t stream) { launched_.order(stream, stream_); }
  void copy(uint32_t slot, void *to, const void *from, uint64_t bytes) {
    {
      const std::lock_guard hold(lock_);  // the event stands right behind its copy
      check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_), "copying from the GPU");
      slots_[slot].record(stream_);
    }
    slots_[slot].wait("copying from the GPU");
  }

 private:
  cudaStream_t stream_ = nullptr;
  Event launched_;
  std::mutex lock_;
  std::vector<Event> slots_;
};

// Parts of a stream whose seconds are asked for when the stream has passed them.
class Timings {
 public:
  void begin(cudaStream_t stream) {
    if (used_ == kMost) settle();
    if (used_ == spans_.size()) spans_.emplace_back();
    spans_[used_].begin.record(stream);
  }
  void end(cudaStream_t stream, double &seconds) {
    Span &span = spans_[used_++];
    span.end.record(stream);
    span.seconds = &seconds;
  }
  void settle() {
    if (used_ > 0) spans_[used_ - 1].end.wait("running kernels");
    for (; used_ > 0; --used_) *spans_[used_ - 1].seconds += spans_[used_ - 1].end.seconds_since(spans_[used_ - 1].begin);
  }
  void forget() noexcept { used_ = 0; }

 private:
  static constexpr size_t kMost = 256;
  struct Span {
    Event begin{cudaEventDefault}, end{cudaEventDefault};
    double *seconds = nullptr;
  };
  std::vector<Span> spans_;
  size_t used_ = 0;
};

// Page-locked memory of the host. Large pieces are huge pages that are locked afterwards: several times faster to get than
// from cudaHostAlloc, which stays for small ones and for hosts that refuse.
class HostMemory {
 public:
  ~HostMemory() {
    for (const auto &[memory, bytes] : mapped_) unmap(memory, bytes);
  }

  void *allocate(uint64_t bytes) {
    if (bytes >= kHugePage)
      if (void *const memory = map((bytes + kHugePage - 1) / kHugePage * kHugePage)) return memory;
    void *memory = nullptr;
    if (cudaHostAlloc(&memory, bytes == 0 ? 1 : bytes, cudaHostAllocDefault) == cudaSuccess) return memory;
    cudaGetLastError();
    return nullptr;
  }

  void free(void *memory) noexcept {
    const auto found = mapped_.find(memory);
    if (found == mapped_.end()) {
      cudaFreeHost(memory);
      return;
    }
    unmap(memory, found->second);
    mapped_.erase(found);
  }

 private:
  static constexpr uint64_t kHugePage = 2 << 20, kPage = 4096;

  void *map(uint64_t bytes) {
    void *const all = ::mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return nullptr;
    char *const from = static_cast<char *>(all);
    const uint64_t before = (kHugePage - reinterpret_cast<uintptr_t>(from) % kHugePage) % kHugePage;
    char *const memory = from + before;
    if (before > 0) ::munmap(from, before);
    if (before < kHugePage) ::munmap(memory + bytes, kHugePage - before);
    ::madvise(memory, bytes, MADV_HUGEPAGE);
    for (uint64_t at = 0; at < bytes; at += kPage) memory[at] = 0;  // so that pages are there when they are locked
    if (cudaHostRegister(memory, bytes, cudaHostRegisterDefault) == cudaSuccess) {
      mapped_.emplace(memory, bytes);
      return memory;
    }
    cudaGetLastError();
    ::munmap(memory, bytes);
    return nullptr;
  }

  static void unmap(void *memory, uint64_t bytes) noexcept {
    cudaHostUnregister(memory);
    ::munmap(memory, bytes);
  }

  std::map<void *, uint64_t> mapped_;
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int ordinal) : ordinal_(ordinal) {
    check(cudaSetDevice(ordinal), "opening the GPU");
    check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, ordinal), "asking the GPU");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
    keep_memory(ordinal);
    scratch_ = std::make_unique<Scratch>(stream_);
    copies_ = std::make_unique<Copies>();
    copies_out_ = std::make_unique<CopiesOut>();
    check(cudaMallocAsync(reinterpret_cast<void **>(&count_), sizeof *count_, stream_), "allocating memory");
  }

  ~CudaDevice() override {
    copies_.reset();
    copies_out_.reset();
    cudaStreamSynchronize(stream_);
    scratch_.reset();
    cudaFreeAsync(count_, stream_);
    cudaStreamSynchronize(stream_);
    for (auto &[path, library] : libraries_) cudaLibraryUnload(library);
    cudaStreamDestroy(stream_);
  }

  const char *kind() const override { return "cuda"; }
  uint32_t multiprocessors() const override { return static_cast<uint32_t>(multiprocessors_); }

  const void *memory_identity() override { return pool_; }  // a GPU's, of all sessions of the process

  uint64_t free_memory() override {
    size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "asking for free memory");
    const uint64_t used = ask_pool(cudaMemPoolAttrUsedMemCurrent);
    const uint64_t there = free + (ask_pool(cudaMemPoolAttrReservedMemCurrent) - used);
    return limit_ == 0 ? there : std::min(there, limit_ - std::min(limit_, used));
  }

  void limit_memory(uint64_t bytes, uint64_t sharers) override { limit_ = bytes * sharers; }

  void *allocate(uint64_t bytes) override {
    std::unique_lock<std::mutex> others;  // of the same memory: between the question and the answer nobody takes any
    if (limit_ > 0) {
      static std::mutex asking;
      others = std::unique_lock(asking);
      if (!fits(bytes)) return nullptr;
    }
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

  void *allocate_host(uint64_t bytes) override { return host_memory_.allocate(bytes); }

  void free_host(void *memory) noexcept override {
    if (memory != nullptr) host_memory_.free(memory);
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

  void open_copies(uint32_t slots) override { copies_->open(slots); }
  void begin_copies() override { copies_->behind(stream_); }
  void await_copies(uint32_t lane) override { copies_->before(stream_, lane); }

  void begin_copy(uint32_t lane, uint32_t slot, void *to, const void *from, uint64_t bytes) override {
    bind();
    copies_->begin(lane, slot, to, from, bytes);
  }

  void finish_copy(uint32_t slot) override {
    bind();
    copies_->finish(slot);
  }

  void open_copies_out(uint32_t slots) override { copies_out_->open(slots); }
  void begin_copies_out() override { copies_out_->behind(stream_); }
  void copy_out(uint32_t slot, void *to, const void *from, uint64_t bytes) override {
    bind();
    copies_out_->copy(slot, to, from, bytes);
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

  void begin_timing() override { timings_.begin(stream_); }
  void end_timing(double &seconds) override { timings_.end(stream_, seconds); }
  void settle_timings() override { timings_.settle(); }
  void forget_timings() noexcept override { timings_.forget(); }

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
  // Of the calling thread, which may never have called before.
  void bind() { check(cudaSetDevice(ordinal_), "choosing the GPU"); }

  uint64_t ask_pool(cudaMemPoolAttr what) {
    uint64_t bytes = 0;
    check(cudaMemPoolGetAttribute(pool_, what, &bytes), "asking the memory pool");
    return bytes;
  }

  // Whether so many bytes more stay within the limit. What the pool keeps for nobody counts too: it goes back before it
  // would be too much.
  bool fits(uint64_t bytes) {
    if (ask_pool(cudaMemPoolAttrUsedMemCurrent) + bytes > limit_) return false;
    if (ask_pool(cudaMemPoolAttrReservedMemCurrent) + bytes > limit_) {
      check(cudaStreamSynchronize(stream_), "running kernels");
      check(cudaMemPoolTrimTo(pool_, 0), "giving memory back");
    }
    return true;
  }

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

  const int ordinal_;
  int multiprocessors_ = 0;
  uint64_t limit_ = 0;  // of what its pool has, of all sessions; 0 = none
  cudaStream_t stream_ = nullptr;
  cudaMemPool_t pool_ = nullptr;
  std::unique_ptr<Scratch> scratch_;
  std::unique_ptr<Copies> copies_;
  std::unique_ptr<CopiesOut> copies_out_;
  Timings timings_;
  HostMemory host_memory_;
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
