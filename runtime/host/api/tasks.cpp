#include "task/api.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "collect/check_output.h"
#include "input/records.h"
#include "host_kernel/map.h"
#include "host_kernel/reduce.h"
#include "task/map_spec.h"
#include "task/task_result.h"

namespace {

using namespace hd;

static_assert(HD_MEMORY == static_cast<int>(kMemory) && HD_N_COUNTERS == static_cast<int>(kCounters));

const char *const kCounterNames[] = {
    "MAP_INPUT_RECORDS", "MAP_INPUT_BYTES", "MAP_OUTPUT_RECORDS", "MAP_OUTPUT_BYTES", "COMBINE_INPUT_RECORDS",
    "COMBINE_OUTPUT_RECORDS", "SPILLED_RECORDS", "SPILLS", "MAP_OUTPUT_MATERIALIZED_BYTES", "REDUCE_INPUT_GROUPS",
    "REDUCE_INPUT_RECORDS", "REDUCE_OUTPUT_RECORDS", "UNREADABLE_PAIRS", "COMBINE_UNREAD_BYTES"};
const char *const kStageNames[] = {"read", "feed", "wait", "collect", "combine", "finish", "filter_cpu", "combine_cpu",
                                   "task_cpu", "total", "copy_in", "index", "stage", "map", "sort", "device_combine",
                                   "gather", "copy_out", "write"};
static_assert(std::size(kCounterNames) == HD_N_COUNTERS && std::size(kStageNames) == HD_N_STAGES);

// One task from its C specification.
template <class Spec>
int32_t run_task(const Spec *spec, hd_progress *progress, hd_result *result, void (*body)(const Spec &, TaskRun &)) noexcept {
  const TaskSetup setup{spec->log_path, spec->reporter_prefix, spec->linger_ms, spec->timeout_ms, spec->flags};
  return run_reported(setup, progress, *result, [&](TaskRun &task) { body(*spec, task); });
}

void map_task(const hd_map_spec &spec, TaskRun &task) {
  if (text_of(spec.out_path).empty()) throw Error(kBadInput, "a map task needs an output path");
  return spec.host.argv ? run_host_map(spec, task) : run_map_task(spec, task);
}

void reduce_task(const hd_reduce_spec &spec, TaskRun &task) {
  if (text_of(spec.out_path).empty()) throw Error(kBadInput, "a reduce task needs an output path");
  return spec.host.argv ? run_host_reduce(spec, task) : run_reduce_task(spec, task);
}

std::string read_all(RecordSource &source) {
  std::string all;
  for (std::string_view piece; !(piece = source.next()).empty();) all += piece;
  return all;
}

}  // namespace

extern "C" {

int32_t hd_abi_version(void) { return HD_ABI_VERSION; }

void hd_abi_sizes(uint64_t sizes[9]) {
  const uint64_t all[] = {sizeof(hd_command), sizeof(hd_pair_check), sizeof(hd_progress), sizeof(hd_map_spec),
                          sizeof(hd_segment), sizeof(hd_reduce_spec), sizeof(hd_result), sizeof(hd_key_range),
                          sizeof(hd_pair_form)};
  std::copy(std::begin(all), std::end(all), sizes);
}

const char *hd_counter_name(int32_t counter) {
  return counter >= 0 && counter < HD_N_COUNTERS ? kCounterNames[counter] : nullptr;
}

const char *hd_stage_name(int32_t stage) { return stage >= 0 && stage < HD_N_STAGES ? kStageNames[stage] : nullptr; }

int32_t hd_map_task(const hd_map_spec *spec, hd_progress *progress, hd_result *result) {
  return run_task(spec, progress, result, map_task);
}

int32_t hd_reduce_task(const hd_reduce_spec *spec, hd_progress *progress, hd_result *result) {
  return run_task(spec, progress, result, reduce_task);
}

int32_t hd_prologue(const hd_prologue_spec *spec, hd_progress *progress, hd_result *result) {
  return run_task(spec, progress, result, run_prologue);
}

int32_t hd_check_map_output(const char *data_path, const char *index_path, uint32_t reducers, uint64_t *pairs,
                            hd_progress *progress, hd_result *result) {
  clear(*result);
  *pairs = 0;
  return guarded(*result, [&] {
    *pairs = check_map_output(data_path, index_path, reducers, Cancel{progress ? &progress->cancel : nullptr});
  });
}

void hd_result_free(hd_result *result) {
  std::free(result->user_counters);
  std::free(result->status_text);
  std::free(result->stderr_tail);
  result->user_counters = result->status_text = result->stderr_tail = nullptr;
}

int32_t hd_read_records(const char *path, int32_t fd, uint64_t start, uint64_t length, const char *delimiter,
                        uint64_t delimiter_len, uint64_t chunk, uint64_t line_max, uint64_t skip_from, char **data,
                        uint64_t *size, uint64_t *records, hd_result *result) {
  clear(*result);
  *data = nullptr;
  *size = *records = 0;
  return guarded(*result, [&] {
    RecordOptions options;
    options.path = path ? path : "";
    options.fd = fd;
    options.start = start;
    options.length = length;
    options.delimiter.assign(delimiter_len ? delimiter : "", delimiter_len);
    options.longest = line_max;
    options.skip_from = skip_from;
    if (chunk) options.chunk = chunk;
    RecordSource source(options, Cancel{});
    const std::string all = read_all(source);
    *data = static_cast<char *>(std::malloc(all.size() + 1));
    if (!*data) throw std::bad_alloc();
    std::memcpy(*data, all.c_str(), all.size() + 1);
    *size = all.size();
    *records = source.records();
  });
}

void hd_free(void *data) { std::free(data); }

}  // extern "C"
