#include "gpu/host_records.h"

#include <sys/mman.h>

#include <chrono>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file_io.h"
#include "filter/pair_splitter.h"
#include "host_kernel/map.h"

namespace hd {
namespace {

constexpr size_t kMostHeld = 64 << 20;  // bytes of output that wait to be wanted
constexpr std::chrono::milliseconds kTick{100};

void write_all(int fd, const void *data, size_t n) {
  const char *from = static_cast<const char *>(data);
  while (n) {
    const ssize_t written = ::write(fd, from, n);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw Error(kIoError, "cannot write live-ins for a host kernel", errno);
    from += written;
    n -= size_t(written);
  }
}

// The form of executor/kernel/host_kernel.py: sizes, relocations but those of textures, `shared`, objects.
void write_live_ins(int fd, const hd_kernel_spec &map) {
  std::vector<uint64_t> head{map.shared.size, map.n_objects, 0};
  for (uint64_t i = 0; i < map.n_objects; ++i) head.push_back(map.objects[i].size);
  for (uint64_t i = 0; i < map.n_relocations; ++i) {
    const hd_relocation &one = map.relocations[i];
    if (one.texture) continue;
    head.insert(head.end(), {one.object, one.at, one.delta});
    ++head[2];
  }
  write_all(fd, head.data(), head.size() * sizeof head[0]);
  write_all(fd, map.shared.data, map.shared.size);
  for (uint64_t i = 0; i < map.n_objects; ++i) write_all(fd, map.objects[i].data, map.objects[i].size);
}

}  // namespace

void HostRecord::Printed::write(const char *data, size_t n) {
  std::unique_lock held(lock);
  while (!wanted && text.size() > kMostHeld) {
    Cancel{&progress->cancel}.check();
    changed.wait_for(held, kTick);
  }
  text.append(data, n);
  changed.notify_all();
}

bool HostRecord::Printed::take(std::string &into) {
  std::unique_lock held(lock);
  wanted = true;
  changed.notify_all();
  changed.wait_for(held, kTick, [&] { return ended || !text.empty(); });
  const bool over = ended && text.empty();
  into.clear();
  into.swap(text);
  return !over;
}

HostRecord::HostRecord(const hd_map_spec &spec, const TaskRun &task, std::string record)
    : spec_(spec), record_(std::move(record)),
      own_{StderrLog(""), Cancel{&progress_.cancel}, progress_, task.linger_ms, task.timeout_ms, task.flags, {}, {}, {}} {
  own_.log.hold();
  printed_.progress = &progress_;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error &e) {
    throw Error(kRunOnCpu, std::string("no thread for a record of its own: ") + e.what());
  }
}

HostRecord::~HostRecord() {
  progress_.cancel = 1;
  if (thread_.joinable()) thread_.join();
}

void HostRecord::run() noexcept {
  try {
    run_host_records(spec_, own_, record_, 1, printed_);
  } catch (...) {
    failure_ = std::current_exception();
  }
  const std::lock_guard held(printed_.lock);
  printed_.ended = true;
  printed_.changed.notify_all();
}

void HostRecord::finish(TaskRun &task, const std::function<void(std::string_view key, std::string_view value)> &pair) {
  PairSplitter lines(pair, LineLimit{spec_.line_max, "map filter"}, task.counters, kMapOutputRecords, kMapOutputBytes);
  for (std::string piece; printed_.take(piece);) {
    task.cancel.check();
    lines.write(piece.data(), piece.size());
  }
  thread_.join();
  try {
    if (failure_) std::rethrow_exception(failure_);
  } catch (const Error &e) {
    if (e.status != kHostLeft && e.status != kHostSilent && e.status != kSpawnFailed) throw;
    throw Error(kRunOnCpu, "a record of " + std::to_string(record_.size()) + " bytes was left by the host kernel: " + e.what());
  }
  lines.finish();
  const std::string said = own_.log.held();
  task.log.write(said.data(), said.size());
  task.seconds[HD_STAGE_FILTER_CPU] += own_.seconds[HD_STAGE_FILTER_CPU];
}

int HostRecords::live_ins() {
  if (!live_ins_) {
    live_ins_ = needed_fd(::memfd_create("live-ins", MFD_CLOEXEC), "file for a host kernel's live-ins");
    write_live_ins(live_ins_.get(), map_);
  }
  return live_ins_.get();
}

std::unique_ptr<HostRecord> HostRecords::begin(std::string record) {
  hd_map_spec spec = spec_;
  try {
    spec.live_ins_fd = live_ins();
  } catch (const Error &e) {
    throw Error(kRunOnCpu, std::string("a host kernel cannot be started: ") + e.what());
  }
  return std::make_unique<HostRecord>(spec, task_, std::move(record));
}

}  // namespace hd
