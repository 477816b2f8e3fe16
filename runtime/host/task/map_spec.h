// From the map task specification of the C ABI to the options of the parts.
#pragma once
#include <string>

#include "collect/collector.h"
#include "input/records.h"
#include "task/task.h"

namespace hd {

std::string text_of(const char *s);  // NULL: ""
RecordOptions records_of(const hd_map_spec &spec);
CollectorOptions collector_of(const hd_map_spec &spec, TaskRun &task);  // `task` must outlive the options

}  // namespace hd
