// Records of a task on a device that are so long that its kernel would wait for their threads: the program's host kernel does
// them, beside the device.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "filter/spawn.h"
#include "task/gpu_api.h"
#include "task/task.h"

namespace hd {

// A record that a host kernel is doing, from its construction on. Its destructor ends that.
class HostRecord {
 public:
  // `record` has its \n behind it.
  HostRecord(const hd_map_spec &spec, const TaskRun &task, std::string record);
  ~HostRecord();
  HostRecord(const HostRecord &) = delete;
  HostRecord &operator=(const HostRecord &) = delete;

  // Waits for its end, gives `pair` what the map prints, and the task its stderr and counters. Throws Error kRunOnCpu: the
  // record could not be done alone; what `pair` has got by then is not all.
  void finish(TaskRun &task, const std::function<void(std::string_view key, std::string_view value)> &pair);

 private:
  // What it prints is kept until it is wanted; of too much the program waits.
  struct Printed final : Sink {
    std::mutex lock;
    std::condition_variable changed;
    std::string text;
    bool wanted = false, ended = false;
    const hd_progress *progress = nullptr;

    void write(const char *data, size_t n) override;
    void finish() override {}
    bool take(std::string &into);  // false: there is no more
  };

  void run() noexcept;

  const hd_map_spec spec_;
  const std::string record_;
  hd_progress progress_{};
  TaskRun own_;  // of this run alone
  Printed printed_;
  std::exception_ptr failure_;
  std::thread thread_;
};

class HostRecords {
 public:
  // `map`: the host kernel gets what it gets from the code before the region. All must outlive it and what it begins.
  HostRecords(const hd_map_spec &spec, const hd_kernel_spec &map, const TaskRun &task) : spec_(spec), map_(map), task_(task) {}
  // Whether there is such a program, and what it says is all that the task needs.
  explicit operator bool() const { return spec_.host.argv && !(spec_.flags & HD_HOST_FOLDS) && !map_.epilogue.argv; }
  std::unique_ptr<HostRecord> begin(std::string record);

 private:
  int live_ins();

  const hd_map_spec &spec_;
  const hd_kernel_spec &map_;
  const TaskRun &task_;
  Fd live_ins_;
};

}  // namespace hd
