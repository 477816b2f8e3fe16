// What the steps of a task on a device share: the device, the runtime's own kernels, options, stage times.
#pragma once
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "device/device_buffer.h"
#include "task/gpu_api.h"
#include "task/task.h"

namespace hd {

// The kernels of runtime/device/steps/kernels.cu; kernels.h says what each does with its argument struct.
class RuntimeKernels {
 public:
  RuntimeKernels(Device &device, std::string module) : device_(device), module_(std::move(module)) {}
  // How many threads of a block, and blocks of a multiprocessor, a GPU gets for them.
  struct Shape {
    uint32_t threads = 256, blocks = 8;
  };
  // Over n elements; none, no launch.
  template <class Arguments>
  void run(const char *entry, const Arguments &arguments, uint64_t n, Shape shape = {}) {
    Arguments copy = arguments;
    void *list[] = {&copy};
    launch(entry, list, n, shape);
  }

 private:
  void launch(const char *entry, void **arguments, uint64_t n, Shape shape);

  Device &device_;
  std::string module_;
};

struct GpuContext {
  Device &device;
  RuntimeKernels &kernels;
  const hd_gpu_options &options;
  hd_gpu_stats &stats;
  TaskRun &task;
  // Runs something on the host, books its time and looks for a request to stop.
  template <class Body>
  auto book(hd_stage which, Body body) {
    task.cancel.check();
    const Booked booked{*this, which};
    return body();
  }
  // Runs one stage, whose time is booked by the device's clock when it has ended there, and looks for a request to stop.
  template <class Body>
  auto stage(hd_stage which, Body body) {
    task.cancel.check();
    const double combined = task.seconds[HD_STAGE_COMBINE];
    device.begin_timing();
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      end_stage(which, combined);
    } else {
      auto result = body();
      end_stage(which, combined);
      return result;
    }
  }

  void upload(void *to, const void *from, uint64_t bytes) {
    device.upload(to, from, bytes);
    stats.bytes_in += bytes;
  }
  void download(void *to, const void *from, uint64_t bytes) {
    device.download(to, from, bytes);
    stats.bytes_out += bytes;
  }
  // One number of the device's memory.
  template <class T>
  T fetch(const T *from) {
    T value;
    download(&value, from, sizeof value);
    return value;
  }

 private:
  struct Booked {
    GpuContext &context;
    hd_stage which;
    double begin = now(), combined = context.task.seconds[HD_STAGE_COMBINE];
    ~Booked() { context.add(which, now() - begin, combined); }
  };
  void end_stage(hd_stage which, double combined) {
    add(which, 0, combined);
    device.end_timing(task.seconds[which]);
  }
  // `combined`: what COMBINE had at the begin; a combiner on the CPU books its own time.
  void add(hd_stage which, double seconds, double combined) {
    task.seconds[which] += seconds - (task.seconds[HD_STAGE_COMBINE] - combined);
  }
};

}  // namespace hd
