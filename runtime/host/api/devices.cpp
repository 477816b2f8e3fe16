#include "task/gpu_api.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "device/device_buffer.h"
#include "gpu/probe.h"
#include "gpu/session.h"
#include "task/task_result.h"

// The library of a CUDA device, closed after the device that comes from it.
struct hd_device {
  struct Library {
    void *handle = nullptr;
    ~Library() {
      if (handle) ::dlclose(handle);
    }
  } library;
  std::unique_ptr<hd::DeviceSession> session;
};

namespace {

using namespace hd;

void say(char *error, uint64_t size, const std::string &text) {
  if (size == 0) return;
  const size_t n = std::min<size_t>(text.size(), size - 1);
  std::memcpy(error, text.data(), n);
  error[n] = 0;
}

std::unique_ptr<Device> from_library(hd_device &opened, int32_t ordinal, const char *library) {
  opened.library.handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!opened.library.handle) throw Error(kBadInput, ::dlerror());
  const auto open = reinterpret_cast<decltype(&hd_cuda_device)>(::dlsym(opened.library.handle, "hd_cuda_device"));
  if (!open) throw Error(kBadInput, std::string(library) + " is not the CUDA half of this HeteroDoop");
  char reason[1024] = "";
  std::unique_ptr<Device> device(open(ordinal, reason, sizeof reason));
  if (!device) throw Error(kBadInput, reason);
  return device;
}

std::unique_ptr<Device> open_device(hd_device &opened, const std::string &kind, int32_t ordinal, const char *library) {
  const bool emulated = kind == "emulated";
  if (!emulated && kind != "cuda") throw Error(kBadInput, "unknown kind of device: " + kind);
  if (emulated && !library) return std::unique_ptr<Device>(emulated_device());
  return from_library(opened, ordinal, library ? library : "");
}

// A device's own failure is not the task's; and a failed run's counters and status must not be seen.
void run_on(DeviceSession &session, const GpuMapSpec &spec, TaskRun &task) {
  try {
    run_gpu_map_task(session, spec, task);
  } catch (const Error &) {
    throw;
  } catch (const std::runtime_error &e) {
    throw Error(kDeviceFailed, std::string("the ") + session.device->kind() + " device failed: " + e.what());
  }
}

void drop_text(hd_result &result) {
  for (char *text : {result.user_counters, result.status_text})
    if (text) *text = 0;
}

}  // namespace

extern "C" {

hd_device *hd_device_open(const char *kind, int32_t ordinal, const char *library, char *error, uint64_t error_size) {
  try {
    auto opened = std::make_unique<hd_device>();
    opened->session = std::make_unique<DeviceSession>(open_device(*opened, kind ? kind : "", ordinal, library));
    return opened.release();
  } catch (const std::exception &e) {
    say(error, error_size, e.what());
  } catch (...) {
    say(error, error_size, "unknown C++ exception");
  }
  return nullptr;
}

void hd_device_close(hd_device *device) { delete device; }

int32_t hd_device_probe(hd_device *device, char *error, uint64_t error_size) {
  try {
    probe_device(*device->session->device);
    return 0;
  } catch (const std::exception &e) {
    say(error, error_size, e.what());
  } catch (const OutOfDeviceMemory &) {
    say(error, error_size, "it has no memory left");
  } catch (...) {
    say(error, error_size, "unknown C++ exception");
  }
  return 1;
}

int32_t hd_gpu_map_task(hd_device *device, const hd_map_spec *spec, const hd_kernel_spec *map, const hd_kernel_spec *combine,
                        const hd_gpu_options *options, hd_progress *progress, hd_result *result) {
  const TaskSetup setup{spec->log_path, spec->reporter_prefix, spec->linger_ms, spec->timeout_ms, spec->flags};
  const GpuMapSpec whole{*spec, *map, combine, *options};
  const int32_t status =
      run_reported(setup, progress, *result, [&](TaskRun &task) { run_on(*device->session, whole, task); });
  if (status == HD_RUN_ON_CPU || status == HD_DEVICE_FAILED || status == HD_RETRY_NO_FOLD) drop_text(*result);
  return status;
}

void hd_device_stats(const hd_device *device, hd_gpu_stats *stats) { *stats = device->session->stats; }

void hd_gpu_abi_sizes(uint64_t sizes[5]) {
  const uint64_t all[] = {sizeof(hd_blob), sizeof(hd_relocation), sizeof(hd_kernel_spec), sizeof(hd_gpu_options),
                          sizeof(hd_gpu_stats)};
  std::copy(std::begin(all), std::end(all), sizes);
}

}  // extern "C"
