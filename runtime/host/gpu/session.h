// An open device, and what stays on it from task to task. The C ABI's hd_device.
#pragma once
#include <memory>

#include "task/gpu_api.h"
#include "steps/audit.h"
#include "steps/combine.h"
#include "steps/fold.h"
#include "steps/gather.h"
#include "launch/kernel.h"
#include "launch/launch.h"
#include "steps/ordered.h"
#include "steps/records.h"
#include "steps/run.h"
#include "steps/sort.h"
#include "input/ingest.h"
#include "output/room.h"

namespace hd {

// The device's memory that sub-splits use one after the other.
struct Workspace {
  DeviceRecords records;
  DeviceStore store;
  PairSorter sorter;
  PairOrder order, errors;
  PairAuditor auditor;
  DeviceCombiner combiner;
  OrderedRoom ordered;
  PairGather gather;
  RunFormatter formatter;

  explicit Workspace(Device &device)
      : records(device), store(device), sorter(device), order(device), errors(device), auditor(device), combiner(device),
        ordered(device), gather(device), formatter(device) {}
};

struct DeviceSession {
  std::unique_ptr<Device> device;
  ObjectCache objects;
  std::unique_ptr<Workspace> workspace;  // made by the first task; after a lack of memory anew, empty
  PairFolder folder;                     // not of the workspace: what it keeps outlives a lack of memory
  OrderedCombiner ordered;               // nor is this
  IngestRoom ingest;
  OutputRoom output;                     // nor this: texts of sub-splits before are on their way to their files
  std::string spread_map;                // module of a map kernel whose keys are too many for it to fold its pairs itself
  std::string slow_map;                  // module of a map kernel that takes far longer than reading its input
  hd_gpu_stats stats{};

  explicit DeviceSession(std::unique_ptr<Device> opened)
      : device(std::move(opened)), objects(*device), folder(*device), ordered(*device), ingest(*device), output(*device) {}
};

// The body of hd_gpu_map_task; throws Error.
struct GpuMapSpec {
  const hd_map_spec &map;
  const hd_kernel_spec &kernel;
  const hd_kernel_spec *combine;
  const hd_gpu_options &options;
};
void run_gpu_map_task(DeviceSession &session, const GpuMapSpec &spec, TaskRun &task);

}  // namespace hd
