// The C ABI of map tasks on a device (GPU or emulated), beside api.h. Plain C; no function throws.
//
// hd_gpu_map_task does what hd_map_task does, with the same input rules, output files, counters and combiner
// semantics, but runs the map (and, for a fold, the combiner) as kernels. Whatever a kernel can not do exactly ends
// the task with HD_RUN_ON_CPU and leaves no output: the caller then runs hd_map_task.
#ifndef HD_GPU_API_H
#define HD_GPU_API_H
#include "task/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const void *data;
  uint64_t size;
} hd_blob;

// What a texture object over an object holds: its elements' bytes (1, 2, 4, or 8 for two words) and their kind.
enum hd_texel { HD_TEXEL_SIGNED = 0x100, HD_TEXEL_UNSIGNED = 0x200, HD_TEXEL_FLOAT = 0x300, HD_TEXEL_BYTES = 0xff };

// Eight bytes of `shared` at offset `at` become the device address of objects[object] + delta, or, with `texture` (not 0:
// hd_texel), the handle of a texture object over it.
typedef struct {
  uint32_t object;
  uint32_t texture;
  uint64_t at;
  uint64_t delta;
} hd_relocation;

enum hd_sink { HD_BLOCK_CURSOR = 0, HD_THREAD_AREA = 1 };
// Pairs are brought together by hash tables before they are sorted: of the numbers of a key's values, whose form
// hd_pair_check says, the combiner keeps the sum, the least, ... Four bits for each number, the first one's the lowest.
enum hd_hash_fold {
  HD_NO_HASH_FOLD = 0,
  HD_FOLD_SUM = 1,
  HD_FOLD_LEAST = 2,
  HD_FOLD_GREATEST = 3,
  HD_FOLD_AND = 4,
  HD_FOLD_OR = 5,
  HD_FOLD_XOR = 6
};
enum hd_sort { HD_RADIX_SORT = 0, HD_MERGE_SORT = 1 };
enum hd_kernel_flags {
  HD_SCAN_AREAS = 1,    // HD_THREAD_AREA: pairs are found by a scan of the areas' counts, not among all slots
  HD_ONE_PER_WARP = 2,  // one thread of each warp works, and has the area
  HD_MAP_FOLD = 4,      // a map kernel that folds pairs itself, as hash_fold and the pair check say, where it is let
};

typedef struct {
  const char *module;       // path: a cubin, or the emulator's shared object
  const char *entry;        // "hd_map", "hd_combine"
  uint32_t threads, blocks; // 0 = chosen
  hd_blob shared;           // the kernel's second argument, before relocation; at least one byte
  const hd_blob *objects;
  uint64_t n_objects;
  const hd_relocation *relocations;
  uint64_t n_relocations;
  uint64_t kvpairs;         // HD_THREAD_AREA: lines that one record gives, at a guess; 0 = 1
  uint32_t sink;            // hd_sink
  uint32_t key_bytes, value_bytes; // of a slot of HD_THREAD_AREA
  uint32_t flags;           // hd_kernel_flags
  uint64_t stack_bytes;     // of a thread, for recursive functions; 0 = the kernel's code says it all
  hd_blob totals;           // of a map kernel whose records gather: what they have before the first one; size 0 = nothing
  hd_command epilogue;      // of a map: runs behind its records, with the task's totals as its stdin; argv NULL = none
} hd_kernel_spec;

typedef struct {
  uint64_t sub_split_bytes;       // of input per launch; 0 = from the device's memory
  uint64_t arena_bytes, pairs;    // first room for a launch's output; 0 = from the input's size
  uint32_t fold;                  // the combine kernel may run on each sub-split's pairs
  uint32_t regroup;               // it may run again on its own output: long runs of a key are cut
  uint32_t emu_order;             // emulated device: lanes 0 forward, 1 reverse, 2 random
  uint32_t emu_pattern;           // what uninitialised memory holds (a byte)
  uint64_t emu_seed;
  uint64_t emu_memory;            // bytes of memory that the emulated device has; 0 = 1 GiB
  const char *runtime_module;     // runtime/device/steps/kernels.cu, compiled for the device
  uint32_t sort_kind;             // hd_sort: of the map's pairs by partition and key
  uint32_t record_order;          // 1: records are taken in their order, not the longest first
  uint32_t hash_fold;             // hd_hash_fold of each number; counts only with fold and regroup
  uint32_t fold_places;           // of the first hash table, a power of two; 0 = from the number of pairs
  uint32_t ingest_threads;        // that read the input, where it is a file of lines; 0 = from the host's cores
  uint32_t workers;               // devices open on this host at the same time, for the size of a read; 0 = 1
  uint64_t ingest_piece;          // bytes of a read and its copy to the device; 0 = from the host's cache
  uint64_t sessions;              // tasks at a time on this device, which share its memory; 0 = 1
  uint32_t ordered;               // 1: the combine kernel is an ordered key loop (device/sink/ordered.h). fold, regroup: 0
  uint32_t ordered_values, ordered_states; // numbers of a pair's value, and variables that are kept of a key
  uint32_t write_threads;         // that write the output; 0 = from the host's cores
  uint64_t write_piece;           // bytes of a copy from the device and its write; 0 = chosen
  uint32_t keep_percent;          // of the device's memory: texts of splits stay there for later tasks with the same split
  uint32_t memory_mib;            // that each of `sessions` may take of the device's memory, all together; 0 = all there is
} hd_gpu_options;

// What the tasks of a device have done so far, all together.
typedef struct {
  uint64_t sub_splits;       // launched and committed
  uint64_t retries;          // launches repeated with more room
  uint64_t halvings;         // sub-splits cut in two for lack of device memory
  uint64_t combine_rounds;
  uint64_t sort_levels;      // key levels of eight bytes (HD_RADIX_SORT)
  uint64_t merge_passes;     // over all pairs (HD_MERGE_SORT)
  uint64_t bytes_in, bytes_out; // over the link
  uint64_t map_folded;          // pairs that map kernels folded themselves
  uint64_t read_bytes, kept_bytes; // of input: brought from files, or found where an earlier task had kept it
  uint64_t alone;                  // records that the host did, because a thread of the device would have taken too long
} hd_gpu_stats;

typedef struct hd_device hd_device;

// `kind` "cuda" (library: path of libhd_cuda) or "emulated" (library NULL, or what stands around the emulated device;
// `ordinal` does not count). NULL on failure, with the reason in `error`.
hd_device *hd_device_open(const char *kind, int32_t ordinal, const char *library, char *error, uint64_t error_size);
void hd_device_close(hd_device *device); // NULL is fine
// Whether the device still works: small pieces of work whose results are known. 0, else 1 with the reason in `error`, and
// then it must be closed.
int32_t hd_device_probe(hd_device *device, char *error, uint64_t error_size);

// Returns result->status, as hd_map_task, and HD_RUN_ON_CPU (result->message says why) or HD_DEVICE_FAILED (the device
// must be closed; another may be opened). One task at a time per device. `combine` NULL: pairs are not combined on the
// device. A combiner that runs on the CPU, alone or after the device, is spec->combine; spec->map does not run.
int32_t hd_gpu_map_task(hd_device *device, const hd_map_spec *spec, const hd_kernel_spec *map, const hd_kernel_spec *combine,
                        const hd_gpu_options *options, hd_progress *progress, hd_result *result);

void hd_device_stats(const hd_device *device, hd_gpu_stats *stats);
// sizeof of hd_blob, hd_relocation, hd_kernel_spec, hd_gpu_options, hd_gpu_stats, in this order.
void hd_gpu_abi_sizes(uint64_t sizes[5]);

#ifdef __cplusplus
}
#endif
#endif
