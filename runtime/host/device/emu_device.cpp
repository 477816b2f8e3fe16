// The emulated device: kernels run on the CPU through runtime/emu, from shared objects; algorithms are plain code.
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "../../emu/launch.h"
#include "base/clock.h"
#include "device/device.h"
#include "device/emu_memory.h"
#include "device/radix_sort.h"

namespace hd {
namespace {

using Launch = decltype(&hd_emu_launch);

// A shared object of kernels. It stays loaded: fibers and statics of the emulator may be in it.
class EmulatedModule {
 public:
  explicit EmulatedModule(const std::string &path) : handle_(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) throw std::runtime_error(::dlerror());
    launch_ = reinterpret_cast<Launch>(::dlsym(handle_.get(), "hd_emu_launch"));
    if (!launch_) throw std::runtime_error(path + " is not a module of the emulated device");
  }
  Launch launch() const { return launch_; }

 private:
  struct Close {
    void operator()(void *handle) const { ::dlclose(handle); }
  };
  std::unique_ptr<void, Close> handle_;
  Launch launch_;
};

struct EmulatedKernel {
  Launch launch;
  std::string entry;
};

// Copies beside the launches. Each is made as late as it may be, when someone waits for it: who forgets to wait, or writes
// too early into what is copied from, sees wrong text.
class EmulatedCopies {
 public:
  struct Copy {
    void *to;
    const void *from;
    uint64_t bytes;
    uint32_t lane;
  };

  void open(uint32_t slots) { waiting_.assign(slots, {}); }
  void begin(uint32_t slot, const Copy &copy) {
    const std::lock_guard hold(lock_);
    make(waiting_[slot]);
    waiting_[slot] = copy;
  }
  void finish(uint32_t slot) {
    const std::lock_guard hold(lock_);
    make(waiting_[slot]);
  }
  void await(uint32_t lane) {
    const std::lock_guard hold(lock_);
    for (Copy &copy : waiting_)
      if (copy.lane == lane) make(copy);
  }

 private:
  static void make(Copy &copy) {
    if (copy.bytes) std::memcpy(copy.to, copy.from, copy.bytes);
    copy.bytes = 0;
  }
  std::mutex lock_;
  std::vector<Copy> waiting_;
};

class EmulatedDevice final : public Device {
 public:
  const char *kind() const override { return "emulated"; }
  uint32_t multiprocessors() const override { return 2; }
  uint64_t free_memory() override { return memory_.left(); }
  void emulate(const Emulation &e) override {
    emulation_ = e;
    memory_.pattern = uint8_t(e.pattern);
    memory_.limit = e.memory ? e.memory : EmulatedMemory::kUsual;
  }

  void limit_memory(uint64_t bytes, uint64_t) override {  // nobody shares it
    if (bytes) memory_.limit = std::min(memory_.limit, bytes);
  }

  void *allocate(uint64_t bytes) override { return memory_.allocate(bytes); }
  void free(void *memory) noexcept override { memory_.free(memory); }
  void *allocate_host(uint64_t bytes) override { return std::malloc(bytes ? bytes : 1); }
  void free_host(void *memory) noexcept override { std::free(memory); }
  void upload(void *to, const void *from, uint64_t bytes) override { copy(to, from, bytes); }
  void download(void *to, const void *from, uint64_t bytes) override { copy(to, from, bytes); }
  void copy(void *to, const void *from, uint64_t bytes) override {
    if (bytes) std::memcpy(to, from, bytes);
  }
  void fill(void *to, uint8_t byte, uint64_t bytes) override { std::memset(to, byte, bytes); }

  void open_copies(uint32_t slots) override { copies_.open(slots); }
  void begin_copies() override {}
  void await_copies(uint32_t lane) override { copies_.await(lane); }
  void begin_copy(uint32_t lane, uint32_t slot, void *to, const void *from, uint64_t bytes) override {
    copies_.begin(slot, {to, from, bytes, lane});
  }
  void finish_copy(uint32_t slot) override { copies_.finish(slot); }
  void open_copies_out(uint32_t) override {}
  void begin_copies_out() override {}
  void copy_out(uint32_t, void *to, const void *from, uint64_t bytes) override { copy(to, from, bytes); }

  uint64_t texture(const void *memory, uint64_t bytes, Texel texel) override {
    return reinterpret_cast<uint64_t>(new hd_emu_texture{memory, bytes / texel.bytes, texel.bytes});
  }
  void free_texture(uint64_t texture) noexcept override { delete reinterpret_cast<hd_emu_texture *>(texture); }
  void need_stack(uint64_t) override {}  // its lanes have the most they may have

  const void *kernel(const std::string &module, const std::string &entry) override {
    auto &kernel = kernels_[{module, entry}];
    if (!kernel) kernel = std::make_unique<EmulatedKernel>(EmulatedKernel{load(module).launch(), entry});
    return kernel.get();
  }
  uint32_t occupancy(const void *, uint32_t, uint64_t) override { return 1; }
  void launch(const DeviceLaunch &launch, void **arguments) override;
  void sync() override {}
  void begin_timing() override { begun_ = now(); }
  void end_timing(double &seconds) override { seconds += now() - begun_; }
  void settle_timings() override {}
  void forget_timings() noexcept override {}

  void sort(SortBuffers &buffers, uint64_t n, int begin_bit, int end_bit) override {
    radix_sort(buffers, n, begin_bit, end_bit);
  }
  void scan(const uint32_t *values, uint64_t *sums, uint64_t n) override {
    sums[0] = 0;
    for (uint64_t i = 0; i < n; ++i) sums[i + 1] = sums[i] + values[i];
  }
  uint64_t select(const uint8_t *flags, uint32_t *selected, uint64_t n) override {
    uint64_t found = 0;
    for (uint64_t i = 0; i < n; ++i)
      if (flags[i]) selected[found++] = uint32_t(i);
    return found;
  }

 private:
  EmulatedModule &load(const std::string &path) {
    auto &module = modules_[path];
    if (!module) module = std::make_unique<EmulatedModule>(path);
    return *module;
  }

  double begun_ = 0;
  Emulation emulation_;
  EmulatedMemory memory_;
  EmulatedCopies copies_;
  std::map<std::string, std::unique_ptr<EmulatedModule>> modules_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<EmulatedKernel>> kernels_;
};

void EmulatedDevice::launch(const DeviceLaunch &launch, void **arguments) {
  const auto &kernel = *static_cast<const EmulatedKernel *>(launch.kernel);
  hd_emu_config config{};
  config.version = HD_EMU_VERSION;
  config.order = emulation_.order;
  config.shared_pattern = config.private_pattern = uint8_t(emulation_.pattern);
  config.seed = emulation_.seed;
  const uint32_t grid[3] = {launch.blocks, 1, 1}, block[3] = {launch.threads, 1, 1};
  char error[512] = "";
  if (kernel.launch(&config, kernel.entry.c_str(), grid, block, launch.shared_bytes, arguments, error, sizeof error))
    throw std::runtime_error(error);
}

}  // namespace

Device *emulated_device() { return new EmulatedDevice; }

}  // namespace hd
