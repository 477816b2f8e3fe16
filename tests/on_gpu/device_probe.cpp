// A device around another one, for measurements and faults; a library that hd_device_open takes in place of libhd_cuda.
//
// It records what the other device hands to the host and can hand out the same again while it does nothing else: what is
// left of a task is the host's own work (bench/host_work.py). And it can kill its process at a certain step
// (tests/on_gpu/gpu_faults.py): the steps are the launches, by kernel, and the other calls.
//   HD_PROBE_BASE  libhd_cuda; empty = the emulated device
//   HD_PROBE_LOG   a file that gets the name of every step when it is first seen
//   HD_PROBE_KILL  the step at which the process is killed, N times seen: "hd_map 2"; done once
//   HD_PROBE_MARK  a file that is made then: where it exists, nothing is killed
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../../runtime/host/device/device.h"

namespace {

using namespace hd;

enum Mode { kPass, kRecord, kReplay };
std::atomic<int> mode{kPass};

const char *setting(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

// Every step by its name: the log, and the end of the process.
class Steps {
 public:
  Steps() {
    const std::string wanted = setting("HD_PROBE_KILL");
    const size_t blank = wanted.find(' ');
    fatal_ = wanted.substr(0, blank);
    if (blank != std::string::npos) count_ = std::strtoull(wanted.c_str() + blank, nullptr, 10);
  }

  void at(const std::string &name) {
    const std::lock_guard hold(lock_);
    const uint64_t seen = ++seen_[name];
    if (seen == 1) log(name);
    if (name == fatal_ && seen == count_) die();
  }

 private:
  static void log(const std::string &name) {
    if (FILE *file = *setting("HD_PROBE_LOG") ? std::fopen(setting("HD_PROBE_LOG"), "a") : nullptr) {
      std::fprintf(file, "%s\n", name.c_str());
      std::fclose(file);
    }
  }
  static void die() {
    const int mark = ::open(setting("HD_PROBE_MARK"), O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (mark >= 0) ::kill(::getpid(), SIGKILL);
    if (errno != EEXIST) std::perror("HD_PROBE_MARK");
  }
  std::string fatal_;
  uint64_t count_ = 0;
  std::mutex lock_;
  std::map<std::string, uint64_t> seen_;
};

Steps &steps() {
  static Steps all;
  return all;
}

// What the device gave, in the order in which the host asked. Threads ask for pieces of texts as they come to it: of each place
// in a text, in order.
class Record {
 public:
  void clear() { bytes_.clear(), pieces_.clear(), rewind(); }
  void rewind() {
    next_ = 0;
    for (auto &[place, pieces] : pieces_) pieces.next = 0;
  }
  void add_piece(uint64_t place, const void *data, uint64_t n) {
    const std::lock_guard hold(lock_);
    pieces_[{place, n}].bytes.emplace_back(static_cast<const char *>(data), n);
  }
  void take_piece(uint64_t place, void *to, uint64_t n) {
    const std::lock_guard hold(lock_);
    Pieces &pieces = pieces_[{place, n}];
    if (pieces.next == pieces.bytes.size()) other_things();
    std::memcpy(to, pieces.bytes[pieces.next++].data(), n);
  }
  void add(const void *data, uint64_t n) { bytes_.emplace_back(static_cast<const char *>(data), n); }
  void take(void *to, uint64_t n) {
    if (next_ == bytes_.size() || bytes_[next_].size() != n) other_things();
    std::memcpy(to, bytes_[next_++].data(), n);
  }

 private:
  struct Pieces {
    std::vector<std::string> bytes;
    size_t next = 0;
  };
  [[noreturn]] static void other_things() {
    std::fprintf(stderr, "the task asks for other things than when it was recorded\n");
    std::abort();
  }
  std::vector<std::string> bytes_;
  size_t next_ = 0;
  std::mutex lock_;
  std::map<std::pair<uint64_t, uint64_t>, Pieces> pieces_;  // by place and bytes
};

Record record;

class ProbedDevice final : public Device {
 public:
  explicit ProbedDevice(Device *device) : device_(device) {}

  const char *kind() const override { return device_->kind(); }
  uint32_t multiprocessors() const override { return device_->multiprocessors(); }
  uint64_t free_memory() override { return device_->free_memory(); }
  void limit_memory(uint64_t bytes, uint64_t sharers) override { device_->limit_memory(bytes, sharers); }
  void emulate(const Emulation &e) override { device_->emulate(e); }
  void *allocate(uint64_t bytes) override {
    void *const memory = device_->allocate(bytes);
    const std::lock_guard hold(lock_);
    if (memory) allocated_.insert(reinterpret_cast<uint64_t>(memory));
    return memory;
  }
  void free(void *memory) noexcept override {
    const std::lock_guard hold(lock_);
    allocated_.erase(reinterpret_cast<uint64_t>(memory));
    device_->free(memory);
  }
  void *allocate_host(uint64_t bytes) override { return device_->allocate_host(bytes); }
  void free_host(void *memory) noexcept override { device_->free_host(memory); }

  void upload(void *to, const void *from, uint64_t bytes) override {
    if (does("upload")) device_->upload(to, from, bytes);
  }
  void download(void *to, const void *from, uint64_t bytes) override {
    if (does("download")) device_->download(to, from, bytes);
    keep(to, bytes);
  }
  void fill(void *to, uint8_t byte, uint64_t bytes) override {
    if (does("fill")) device_->fill(to, byte, bytes);
  }
  void copy(void *to, const void *from, uint64_t bytes) override {
    if (does("copy")) device_->copy(to, from, bytes);
  }
  void open_copies(uint32_t slots) override { device_->open_copies(slots); }
  void begin_copies() override { device_->begin_copies(); }
  void await_copies(uint32_t lane) override { if (does("await_copies")) device_->await_copies(lane); }
  void begin_copy(uint32_t lane, uint32_t slot, void *to, const void *from, uint64_t bytes) override {
    if (does("begin_copy")) device_->begin_copy(lane, slot, to, from, bytes);
  }
  void finish_copy(uint32_t slot) override { device_->finish_copy(slot); }
  void open_copies_out(uint32_t slots) override { device_->open_copies_out(slots); }
  void begin_copies_out() override { if (does("begin_copies_out")) device_->begin_copies_out(); }
  void copy_out(uint32_t slot, void *to, const void *from, uint64_t bytes) override {
    const uint64_t at = place(from);
    if (does("copy_out")) device_->copy_out(slot, to, from, bytes);
    if (mode == kRecord) record.add_piece(at, to, bytes);
    if (mode == kReplay) record.take_piece(at, to, bytes);
  }
  uint64_t texture(const void *memory, uint64_t bytes, Texel texel) override {
    return device_->texture(memory, bytes, texel);
  }
  void free_texture(uint64_t texture) noexcept override { device_->free_texture(texture); }
  void need_stack(uint64_t bytes) override { device_->need_stack(bytes); }
  const void *kernel(const std::string &module, const std::string &entry) override {
    const void *kernel = device_->kernel(module, entry);
    names_[kernel] = entry;
    return kernel;
  }
  uint32_t occupancy(const void *kernel, uint32_t threads, uint64_t shared_bytes) override {
    return device_->occupancy(kernel, threads, shared_bytes);
  }
  void launch(const DeviceLaunch &launch, void **arguments) override {
    if (mode == kReplay) return;
    steps().at(names_[launch.kernel]);
    device_->launch(launch, arguments);
  }
  void sync() override { if (mode != kReplay) device_->sync(); }
  void begin_timing() override { if (mode != kReplay) device_->begin_timing(); }
  void end_timing(double &seconds) override { if (mode != kReplay) device_->end_timing(seconds); }
  void settle_timings() override { if (mode != kReplay) device_->settle_timings(); }
  void forget_timings() noexcept override { device_->forget_timings(); }
  void sort(SortBuffers &buffers, uint64_t n, int begin_bit, int end_bit) override {
    if (does("sort")) device_->sort(buffers, n, begin_bit, end_bit);
  }
  void scan(const uint32_t *values, uint64_t *sums, uint64_t n) override {
    if (does("scan")) device_->scan(values, sums, n);
  }
  uint64_t select(const uint8_t *flags, uint32_t *selected, uint64_t n) override {
    uint64_t found = does("select") ? device_->select(flags, selected, n) : 0;
    keep(&found, sizeof found);
    return found;
  }

 private:
  template <class Name>
  static bool does(const Name &step) {  // a name costs nothing where nothing is done
    if (mode == kReplay) return false;
    steps().at(step);
    return true;
  }
  static void keep(void *data, uint64_t bytes) {
    if (mode == kRecord) record.add(data, bytes);
    if (mode == kReplay) record.take(data, bytes);
  }
  // Where `from` lies in its allocation.
  uint64_t place(const void *from) {
    const uint64_t at = reinterpret_cast<uint64_t>(from);
    const std::lock_guard hold(lock_);
    return at - *std::prev(allocated_.upper_bound(at));
  }
  const std::unique_ptr<Device> device_;
  std::map<const void *, std::string> names_;
  std::mutex lock_;
  std::set<uint64_t> allocated_;
};

Device *base(int ordinal, char *error, uint64_t error_size) {
  const char *library = setting("HD_PROBE_BASE");
  if (!*library) return emulated_device();
  void *handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  const auto open = handle ? reinterpret_cast<decltype(&hd_cuda_device)>(::dlsym(handle, "hd_cuda_device")) : nullptr;
  if (open) return open(ordinal, error, error_size);
  std::snprintf(error, error_size, "HD_PROBE_BASE %s: %s", library, ::dlerror());
  return nullptr;
}

}  // namespace

extern "C" hd::Device *hd_cuda_device(int ordinal, char *error, uint64_t error_size) {
  Device *device = base(ordinal, error, error_size);
  return device ? new ProbedDevice(device) : nullptr;
}

// 0 pass everything on, 1 and record what the host is given, 2 give the host the same and do nothing.
extern "C" void hd_probe_mode(int wanted) {
  mode = wanted;
  if (wanted == kRecord) record.clear();
  record.rewind();
}
