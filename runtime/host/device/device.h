// A device that runs kernels, as the host side of a GPU map task sees it: memory, launches, three parallel algorithms.
//
// Two implementations: the emulated device (emu_device.cpp) and CUDA (a library of its own, libhd_cuda, which exports
// hd_cuda_device below). Calls come from one thread at a time, but for those of copies, which say so. Addresses are device
// addresses; the emulated device's are host addresses. Every failure but lack of memory is thrown as std::runtime_error,
// which is the same type in both libraries; after one, the device must not be used any more.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace hd {

struct DeviceLaunch {
  const void *kernel = nullptr;  // from Device::kernel
  uint32_t blocks = 1, threads = 128;
  uint64_t shared_bytes = 0;     // dynamic shared memory
};

// Double buffers of a sort. After Device::sort the sorted pairs are in `keys` and `values`: the call swaps the pointers.
struct SortBuffers {
  uint64_t *keys = nullptr, *other_keys = nullptr;
  uint32_t *values = nullptr, *other_values = nullptr;
};

// An element of a texture: signed, unsigned or floating, of `bytes` bytes; 8 bytes are two signed words.
struct Texel {
  enum Kind : uint32_t { integer, natural, real };
  Kind kind = integer;
  uint32_t bytes = 0;
};

// What can be chosen of the emulated device: how lanes are scheduled, what memory holds before it is written.
struct Emulation {
  uint32_t order = 0;    // 0 forward, 1 reverse, 2 random by seed
  uint32_t pattern = 0;  // a byte
  uint64_t seed = 0;
  uint64_t memory = 0;   // bytes in all; 0 = 1 GiB
};

constexpr uint32_t kCopyLanes = 3;  // one for kernels, one on its way, and one more where these are not equally fast

class Device {
 public:
  virtual ~Device() = default;

  virtual const char *kind() const = 0;  // "emulated", "cuda"
  virtual uint32_t multiprocessors() const = 0;
  virtual const void *memory_identity() { return this; }  // the same for devices that share their memory
  virtual uint64_t free_memory() = 0;    // bytes that allocate() may still give, at a guess
  virtual void emulate(const Emulation &) {}  // other devices have no choice
  // Of `sharers` devices with the same memory each may take so many bytes, all together; 0 = no limit. allocate() and
  // free_memory() heed it from now on.
  virtual void limit_memory(uint64_t bytes, uint64_t sharers) = 0;

  // At least 256-byte aligned; nullptr where the memory is not there (0 bytes: some address, not nullptr).
  virtual void *allocate(uint64_t bytes) = 0;
  virtual void free(void *memory) noexcept = 0;
  // Host memory that upload and download are fast with; nullptr where it is not there.
  virtual void *allocate_host(uint64_t bytes) = 0;
  virtual void free_host(void *memory) noexcept = 0;

  // In order with launches and algorithms. upload and download are complete on return; the others need not be.
  virtual void upload(void *to, const void *from, uint64_t bytes) = 0;
  virtual void download(void *to, const void *from, uint64_t bytes) = 0;
  virtual void fill(void *to, uint8_t byte, uint64_t bytes) = 0;
  virtual void copy(void *to, const void *from, uint64_t bytes) = 0;  // inside of the device's memory

  // Copies to the device beside everything else, in `kCopyLanes` lanes, each copy behind those that began before. `from` is memory of
  // allocate_host in `slots` parts (open_copies, while no copy is under way); a part is written again after finish_copy.
  virtual void open_copies(uint32_t slots) = 0;
  virtual void begin_copies() = 0;               // what is copied from now on comes behind the launches so far
  virtual void await_copies(uint32_t lane) = 0;  // launches from now on come behind all copies of the lane so far
  // These two by any threads, several at once, beside any other call; a slot by one thread at a time.
  virtual void begin_copy(uint32_t lane, uint32_t slot, void *to, const void *from, uint64_t bytes) = 0;
  virtual void finish_copy(uint32_t slot) = 0;   // waits until the slot's last copy is done

  // Copies from the device beside everything else, into memory of allocate_host, in so many slots.
  virtual void open_copies_out(uint32_t slots) = 0;
  virtual void begin_copies_out() = 0;  // what is copied out from now on comes behind the launches so far
  // By any threads, several at once, beside any other call; a slot by one thread at a time. Complete on return.
  virtual void copy_out(uint32_t slot, void *to, const void *from, uint64_t bytes) = 0;

  // A handle through which kernels fetch elements of `memory` as a linear texture (tex1Dfetch), 0 for a device without
  // textures. The memory must outlive it.
  virtual uint64_t texture(const void *memory, uint64_t bytes, Texel texel) = 0;
  virtual void free_texture(uint64_t texture) noexcept = 0;
  // Stack that a thread may need beyond what a kernel's code says by itself: for recursion. Grows only.
  virtual void need_stack(uint64_t bytes) = 0;

  // The entry of a module (a cubin; a shared object of the emulator), loaded once and kept with the device.
  virtual const void *kernel(const std::string &module, const std::string &entry) = 0;
  // Blocks of `threads` threads that one multiprocessor holds of this kernel, at least 1.
  virtual uint32_t occupancy(const void *kernel, uint32_t threads, uint64_t shared_bytes) = 0;
  // `arguments`: addresses of the kernel's arguments, as for cuLaunchKernel; read before the call returns.
  virtual void launch(const DeviceLaunch &launch, void **arguments) = 0;
  virtual void sync() = 0;  // waits for everything; reports what a kernel did wrong
  // Adds to `seconds` what passes by the device's clock from begin_timing to end_timing, with all that was given to it in
  // between. One pair at a time; neither waits, so that the host goes on: `seconds` has it after settle_timings, which waits
  // as sync does. forget_timings gives up what has not been added.
  virtual void begin_timing() = 0;
  virtual void end_timing(double &seconds) = 0;
  virtual void settle_timings() = 0;
  virtual void forget_timings() noexcept = 0;

  // Sorts n (key, value) pairs by the key's bits [begin_bit, end_bit), stably.
  virtual void sort(SortBuffers &buffers, uint64_t n, int begin_bit, int end_bit) = 0;
  // sums[i] = values[0] + ... + values[i - 1] for i = 0 ... n: n + 1 results, the last is the total.
  virtual void scan(const uint32_t *values, uint64_t *sums, uint64_t n) = 0;
  // The indices i < n with flags[i] != 0, ascending, into `selected`; returns how many.
  virtual uint64_t select(const uint8_t *flags, uint32_t *selected, uint64_t n) = 0;
};

Device *emulated_device();

}  // namespace hd

// Exported by libhd_cuda: the device, to be deleted by the caller; nullptr and a text in `error` where there is none.
extern "C" hd::Device *hd_cuda_device(int ordinal, char *error, uint64_t error_size);
