// The C ABI of the native runtime, used by heterodoop/executor/native/runtime.py. Plain C; no function throws.
//
// All strings are bytes ending in NUL; NULL and "" mean "none" where a field may be absent. The caller keeps every
// input alive during the call. A call may be made from any thread; its filters die with that thread (spawn.h), so
// the thread must outlive the call, as it does anyway.
#ifndef HD_API_H
#define HD_API_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_ABI_VERSION 15

enum hd_status {
  HD_OK = 0,
  HD_FILTER_FAILED = 1,     // exit_code or signal of the map or reduce filter
  HD_SPAWN_FAILED = 2,      // error_number
  HD_COMBINER_FAILED = 3,   // exit_code or signal
  HD_COMBINER_DISORDER = 4, // combiner output left its key order or partition
  HD_IO_ERROR = 5,          // error_number where the system gave one
  HD_CANCELLED = 6,
  HD_RETRY_NO_FOLD = 7,     // run again without HD_REGROUP
  HD_BAD_INPUT = 8,
  HD_INTERNAL = 9,
  HD_RUN_ON_CPU = 10,    // task/gpu_api.h: the device can not run this task exactly; the message says why
  HD_DEVICE_FAILED = 11, // task/gpu_api.h: the device itself; it must be closed
  HD_INPUT_LINE = 12,    // a record is longer than line_max; the message has the file and the place
  HD_OUTPUT_LINE = 13,   // a filter printed a line that is longer than line_max
  HD_TIMED_OUT = 14,     // a filter moved no byte for timeout_ms
  HD_HOST_LEFT = 15,     // the host kernel gave up, nothing of it counts: run again without `host`; the message says why
  HD_HOST_SILENT = 16,   // the same, because it moved no byte for timeout_ms
  HD_KEY_ORDER = 17,     // the comparator (hd_pair_form) does not put the keys into an order; the message has one of them
  HD_MEMORY = 18         // a filter used more memory than its command allows
};

enum hd_counter {
  HD_MAP_INPUT_RECORDS,
  HD_MAP_INPUT_BYTES,
  HD_MAP_OUTPUT_RECORDS,
  HD_MAP_OUTPUT_BYTES,
  HD_COMBINE_INPUT_RECORDS,
  HD_COMBINE_OUTPUT_RECORDS,
  HD_SPILLED_RECORDS,
  HD_SPILLS,
  HD_MAP_OUTPUT_MATERIALIZED_BYTES,
  HD_REDUCE_INPUT_GROUPS,
  HD_REDUCE_INPUT_RECORDS,
  HD_REDUCE_OUTPUT_RECORDS,
  HD_UNREADABLE_PAIRS,
  HD_COMBINE_UNREAD_BYTES,
  HD_N_COUNTERS
};

// Wall-clock seconds of the calling thread, which add up to nearly TOTAL (up to COMBINE, FINISH; of a task on a device
// the stages behind TOTAL too), then CPU seconds.
enum hd_stage {
  HD_STAGE_READ,        // reading and cutting the split (on a device: waiting for it); merging segments (reduce)
  HD_STAGE_FEED,        // reading and writing the filter's pipes
  HD_STAGE_WAIT,        // waiting for the filter
  HD_STAGE_COLLECT,     // taking the filter's output: grouping, spilling; writing text. Combiner runs apart
  HD_STAGE_COMBINE,     // combiner runs, the handling of their input and output included
  HD_STAGE_FINISH,      // final sort, merge and write, combiner runs apart
  HD_STAGE_FILTER_CPU,  // user + system time of the map or reduce filter
  HD_STAGE_COMBINE_CPU, // of all combiner runs
  HD_STAGE_TASK_CPU,    // of the calling thread
  HD_STAGE_TOTAL,
  HD_STAGE_COPY_IN,        // tasks on a device only, from here on: waiting for what is still on its way to the device
  HD_STAGE_INDEX,          // finding the records
  HD_STAGE_STAGE,          // laying out records, or pairs for the combiner
  HD_STAGE_MAP,            // the map kernel, repeated launches included
  HD_STAGE_SORT,
  HD_STAGE_DEVICE_COMBINE, // the combine kernel
  HD_STAGE_GATHER,         // putting sorted pairs together for the way back
  HD_STAGE_COPY_OUT,
  HD_STAGE_WRITE,          // map output and spills; stderr
  HD_N_STAGES
};

enum hd_phase { HD_PHASE_START, HD_PHASE_FILTER, HD_PHASE_COMBINE, HD_PHASE_FINISH, HD_PHASE_END };

enum hd_flag {
  HD_REGROUP = 1,          // the combiner is a fold: it may run per spill and again at the merge
  HD_ACCEPT_EXIT_CODE = 2, // stream.non.zero.exit.is.failure=false: any end of a filter is a success
  HD_HOST_FOLDS = 4        // the host kernel does the combiner's work, too
};

typedef struct {
  const char *const *argv; // ends with NULL; argv itself NULL = no command. argv[0] is a path, PATH is not searched
  const char *const *env;  // NAME=VALUE, ends with NULL: the whole environment
  const char *cwd;
  uint64_t memory; // bytes that it and what it starts may use together; 0 = any
} hd_command;

enum { HD_MOST_VALUES = 8, HD_MOST_BETWEEN = 4 };

typedef struct {
  int32_t key_kind;  // PairCheck::Key in collector.h
  uint32_t n_values; // numbers of a value; 0: any value will do
  uint8_t value_kinds[HD_MOST_VALUES];   // PairCheck::Value
  uint8_t between_sizes[HD_MOST_VALUES]; // of the bytes behind each number but the last
  char between[HD_MOST_VALUES][HD_MOST_BETWEEN];
  uint64_t key_max;
  uint64_t none, has_none; // PairCheck::none
} hd_pair_check;

typedef struct {
  const char *bytes;
  uint64_t size;
} hd_text;

typedef struct { // KeyRange in pairs/key_fields.h
  uint32_t first_field, first_char, last_field, last_char, numeric, reverse;
} hd_key_range;

typedef struct { // PairForm in pairs/pair_form.h; no text is empty
  hd_text map_out, reduce_out, reduce_in, out;
  uint32_t map_fields, reduce_fields; // of the key, in lines of map_out and reduce_out
  uint32_t by_fields, ordered;
  hd_text key_fields; // what separates fields within a key
  const hd_key_range *partition, *order;
  uint64_t n_partition, n_order;
} hd_pair_form;

typedef struct { // written while the task runs, for whoever wants to look; only `cancel` is read
  volatile uint64_t bytes_in, records_in, pairs_out, bytes_out;
  volatile int32_t phase;  // hd_phase
  volatile int32_t cancel; // set to 1 by another thread: the filters are killed within a tenth of a second
} hd_progress;

typedef struct {
  hd_command map, combine; // combine: argv NULL = none
  const char *input_path;
  int32_t input_fd; // -1: open input_path. Else a pipe that is read to its end, not closed; start and length are 0
  uint32_t linger_ms; // 0 = default; see run_filter in process.h
  uint32_t timeout_ms; // of silence, after which a filter is killed; 0 = none
  uint64_t start, length; // length UINT64_MAX = to the end of the file
  const char *delimiter; // bytes; delimiter_len 0 = \n, \r\n, \r
  uint64_t delimiter_len;
  uint32_t reducers; // 0: out_path gets text, key TAB value NL
  uint32_t flags;
  uint64_t sort_bytes;
  const char *work_dir, *out_path, *index_path, *log_path;
  const char *reporter_prefix; // NULL = "reporter:"
  hd_pair_check check;
  uint64_t line_max;  // bytes of the longest record and line of output, their ends left out; 0 = no limit
  uint64_t skip_from; // records of so many bytes, their ends included, are passed over; 0 = none is
  uint64_t watch_from; // bytes of the map filter's stdin from which it gets records one by one; UINT64_MAX = never
  uint64_t combine_watch_from; // the same of the combiner: of what it reads in all its runs
  // argv NULL = none. Else a program that does the map filter's work (host_kernel/map.cpp). HD_HOST_FOLDS: the combiner's, too; only
  // with `combine` and `reducers`. HD_REGROUP: it may then print a key more than once, and the combiner combines its lines.
  hd_command host;
  int32_t live_ins_fd; // a file that it reads as its descriptor 4 (executor/kernel/host_kernel.py); -1 = none. Not closed
  hd_command epilogue; // of `host`: runs behind it, with the totals of its records as its stdin; argv NULL = none
  const hd_pair_form *form; // NULL: the key ends at the first tab, and its bytes decide; only without `host` and on no device
} hd_map_spec;

typedef struct {
  const char *data_path;
  uint64_t start, raw_length, part_length;
} hd_segment;

typedef struct {
  hd_command reduce; // argv NULL: identity
  const hd_segment *segments; // in map task order, which decides the order among equal keys
  uint64_t n_segments;
  uint32_t partition, flags;
  uint64_t merge_bytes;
  uint32_t linger_ms, timeout_ms;
  const char *work_dir, *out_path, *log_path, *reporter_prefix;
  uint64_t line_max, watch_from; // as in hd_map_spec
  // argv NULL = none. Else a program that does what merge and `reduce` do (host_kernel/reduce.cpp), by up to so many threads; only with
  // segments, none of them empty.
  hd_command host;
  uint64_t threads;
  const hd_pair_form *form; // as of the map tasks; only without `host`
} hd_reduce_spec;

typedef struct { // the code before a mapper's region, as a program that writes its variables to descriptor 3
  hd_command prologue;
  int32_t data_fd; // a file; stays open
  uint32_t linger_ms, timeout_ms, flags;
  const char *log_path, *reporter_prefix;
} hd_prologue_spec;

typedef struct {
  int32_t status, exit_code, signal, error_number; // exit_code -1 and signal 0: does not apply
  // Of a filter that failed: bytes of its stdin that it can have read (a combiner's in all its runs). Where it was watched
  // (watch_from) also the record that it failed on, from 1 on; else 0.
  uint64_t input_read, bad_record;
  uint64_t counters[HD_N_COUNTERS];
  double seconds[HD_N_STAGES];
  char message[2048]; // "" when ok
  char *user_counters; // lines GROUP TAB COUNTER TAB N; \ and tab in names are \\ and \t
  char *status_text;
  char *stderr_tail;
} hd_result;

int32_t hd_abi_version(void);
// sizeof of hd_command, hd_pair_check, hd_progress, hd_map_spec, hd_segment, hd_reduce_spec, hd_result, hd_key_range,
// hd_pair_form, in this order.
void hd_abi_sizes(uint64_t sizes[9]);
const char *hd_counter_name(int32_t counter); // NULL outside the range
const char *hd_stage_name(int32_t stage);

// All return result->status. `progress` may be NULL. Free the result with hd_result_free whatever the status.
int32_t hd_map_task(const hd_map_spec *spec, hd_progress *progress, hd_result *result);
int32_t hd_reduce_task(const hd_reduce_spec *spec, hd_progress *progress, hd_result *result);
// HD_BAD_INPUT: the program wrote to stdout or stderr, which a device cannot repeat in its place.
int32_t hd_prologue(const hd_prologue_spec *spec, hd_progress *progress, hd_result *result);
void hd_result_free(hd_result *result);

// Reads a finished map output (IFile and index, no codec) and checks lengths, end marks, checksums, the order of keys and that
// each is in its partition of `reducers`. *pairs is their number. HD_IO_ERROR: the message says what is wrong.
int32_t hd_check_map_output(const char *data_path, const char *index_path, uint32_t reducers, uint64_t *pairs,
                            hd_progress *progress, hd_result *result);

// The bytes that a split puts on its filter's stdin, for tests and for showing a failing record. `fd`, `length`,
// `line_max` and `skip_from` as in hd_map_spec; `chunk` = bytes per read, 0 = default. *data is malloc'ed (free with hd_free); result->message holds
// the reason of a failure.
int32_t hd_read_records(const char *path, int32_t fd, uint64_t start, uint64_t length, const char *delimiter,
                        uint64_t delimiter_len, uint64_t chunk, uint64_t line_max, uint64_t skip_from, char **data,
                        uint64_t *size, uint64_t *records, hd_result *result);
void hd_free(void *data);

#ifdef __cplusplus
}
#endif
#endif
