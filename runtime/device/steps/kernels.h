// The runtime's own kernels (kernels.cu): what each takes and does, and the order in which a task launches them. No code.
//
// Every kernel takes one struct by value and strides over its elements: any grid and block will do, no dynamic shared
// memory. All memory is the device's. Buffers of text (raw text, arenas, staged text, output) start at a multiple of 16
// and can be read up to the next multiple of 16 after their end. Flags are a byte each, 0 or 1, for Device::select;
// sizes and counts are uint32_t, for Device::scan, whose n + 1 uint64_t sums the copying kernels take.
//
// 1. Index of the raw text (Hadoop's LineRecordReader: records end at \n, \r\n, \r; the last may lack its end)
//      hd_index_count -> counts[tiles], last[tiles]; scan -> first[tiles + 1]; records = first[tiles]
//      hd_index_records -> offset[records], length[records], slot[records]; by whole warps
// 2. Staging, of records or of pairs
//      records: hd_stage_records -> text[size + 1 + slot_spread * records], record i at slot[i]
//      pairs: hd_stage_pair_sizes -> length[n], sizes[n]; scan -> offset[n + 1], bytes = offset[n];
//        hd_stage_pairs -> text[bytes]
//      RecordTable{text, offset, length, n}. Longest first (Task::order): hd_length_keys -> keys, values 0 ... n - 1
//      (hd_iota); sort bits [0, 32).
// 3. Map kernel. The pairs array was filled with 0xff, so that unused slots have length no_pair.
// 4. Pairs in use
//      slots := min(*pairs_used, pairs_size) (sink ThreadArea: pairs_size)
//      hd_pair_flags (stream = 0 pairs, 1 stderr) -> flags[slots]; select -> order[n]
//    or, sink ThreadArea with Task::area_slots (the paper, 5.3): hd_area_counts -> counts[areas];
//      scan -> first[areas + 1], n = first[areas]; hd_area_slots -> order[n]. The pairs array need not have been filled.
// 5. Order of the sequential program: keys = hd_order_keys(order), sort (keys, order) bits [0, 32 + bits of the largest
//      item); a cheaper way, in two sorts: bits [0, bits of *largest_sequence), then [32, 32 + bits of the largest item).
//      Map-only output and stderr text need no more.
// 6. Order by (partition, key), stable
//      order as after 5.
//      hd_partitions -> segment[slot] for each pair in use; indexed by slot, like every `segment` below.
//      level 0, p = 0, all n pairs:
//        keys = hd_clamp_keys(order, p);   sort bits [0, 4)
//        keys = hd_prefix_keys(order, p);  sort bits [0, 64)
//        keys = hd_segment_keys(order);    sort bits [0, bits of reducers - 1), not needed for one reducer
//        hd_tie_flags(order, segment, p) -> member[n], start[n]: neighbours with the same segment, the same bytes
//          [p, p + 8) and more bytes than p + 8 each. None: done.
//        select(member) -> chosen[m]; m == 0: done. scan(start) -> rank[n + 1].
//        hd_ties -> order'[m] = order[chosen[j]], place'[m] (where the m pairs belong in the order of level 0; place is
//          null at level 0), segment[order'[j]] := number of its group
//      level p = 8, 16, ...: the same over order' (m pairs, prefix and clamp at p, then segment), with bits of m - 1
//        for the segment; after the three sorts hd_scatter_u32(order', place' -> order of level 0), then tie flags again.
//      A level ends: keys are finite. Afterwards `segment` holds partitions no more: hd_partitions again where needed.
//    or, by merging (the paper, 5.3), for which `order` may be any: hd_partitions; hd_sort_tiles(order) -> other;
//      width = merge_tile, 2 merge_tile, ... < n: hd_merge_runs(other, width) -> order, and so on in turns.
// 7. Combine items
//      hd_chunk_flags(order, regroup) -> flags[n]; select -> begin[items]; the host appends begin[items] = n.
//      Stage the pairs in `order`, launch the combine kernel, steps 4 and 5 on its store: the order of a fold's output
//      is already by key. hd_run_flags -> flags; as many as pairs: each key once, done. Else 7 again (only with regroup).
// 8. Output
//      hd_output_sizes -> sizes[n]; scan -> offset[n + 1], bytes = offset[n]; hd_output -> text[bytes].
//      A run without the CPU's combiner: hd_partitions, hd_gather_u32; hd_ifile_sizes, scan, hd_ifile; hd_partition_starts.
//      hd_gather_pairs(order) -> the sorted pairs themselves: key and line lengths. hd_partitions and hd_gather_u32:
//      partitions in the same order.
#pragma once

#include "abi.h"

namespace hd {

constexpr uint32_t index_tile = 8192;    // bytes of raw text that a block of hd_index_count looks at at a time
constexpr uint32_t index_threads = 256;  // of a block of hd_index_records, at most
constexpr uint32_t long_record = 128 << 10;  // bytes from which a record is noted by itself: a thread takes 10 ms for so many
constexpr uint32_t most_long = 8;        // that are noted
constexpr uint64_t slot_spread = 31;     // bytes for each record by which slots may lie further apart than the text
constexpr uint32_t chunk_pairs = 32;     // pairs of a combine item, about
constexpr uint32_t merge_tile = 512;     // pairs that hd_sort_tiles sorts in shared memory
constexpr uint32_t arena_chunk = 32768;  // what a block takes of the arena at a time (BlockCursor): a launch leaves up to
constexpr uint32_t slot_chunk = 256;     // this much per block unused. The same for the pairs array.

// Records of text[begin, size). delimiter < 0: Hadoop's rule; else records end at this byte alone. A \r that is the last
// byte ends a record only if `text_ends` (nothing follows that could begin with \n); the host does not cut after a \r
// otherwise. `begin` is 0, or 3 after a byte order mark.
struct IndexText {
    const char *text;
    uint64_t size;
    uint64_t begin;
    int32_t delimiter;
    uint32_t text_ends;
};

// hd_index_count: counts[t] = record ends in tile t, at '\n', a lone '\r', or `size` (the end is missing); last[t] = the last
// one's position in the tile, plus 1, or 0. ceil(size / index_tile) tiles. *empty (0 before the launch): tiles without one.
struct IndexCountArgs {
    IndexText in;
    uint32_t *counts;
    uint32_t *last;
    unsigned long long *empty;
};

// Records of `long_record` bytes and more, in any order: how many there are, and the first ones that were found. Bytes
// [start, start + length) of the text; what follows the record begins at `end`.
struct LongRecord {
    uint64_t start, end;
    uint64_t length;
};
struct LongRecords {
    uint32_t count;
    uint32_t reserved;
    LongRecord record[most_long];
};

// hd_index_records: records as ranges of the text, without their ends, and where each has its slot when it is staged.
struct IndexRecordsArgs {
    IndexText in;
    const uint64_t *first;  // scan of counts
    const uint32_t *last;
    uint64_t *offset;
    uint32_t *length;
    uint64_t *slot;
    LongRecords *longs;  // count 0 before the launch
};

// hd_stage_records: copies text[offset[i], + length[i]) into the slot at slot[i].
struct StageRecordsArgs {
    const char *text;
    const uint64_t *offset;
    const uint32_t *length;
    char *staged;
    const uint64_t *slot;
    uint32_t count;
    uint32_t lane_bits;             // 2^lane_bits lanes copy one record together
};

// hd_stage_pair_sizes (uses pairs, order, length, sizes): as above; length[i] is what a RecordTable says: with the tab
// that a line without one gets. hd_stage_pairs: copies line order[i] into slot i.
struct StagePairsArgs {
    const char *arena;
    const Pair *pairs;
    const uint32_t *order;
    uint32_t *length;
    uint32_t *sizes;
    char *staged;
    const uint64_t *staged_offset;
    uint32_t count;
    uint32_t reserved;
};

// hd_length_keys: keys[i] = 0xffffffff - bytes of item i (record i, or records begin[i] ... begin[i + 1]).
struct LengthKeysArgs {
    const uint32_t *length;
    const uint32_t *begin;  // may be null
    uint64_t *keys;
    uint32_t count;
    uint32_t reserved;
};

// hd_pair_flags: which slots hold a pair (stream 0) or stderr text (stream 1). *largest_sequence (0 before the launch; may
// be null) becomes the largest sequence number among them, *largest_item likewise.
struct PairFlagsArgs {
    const Pair *pairs;
    uint8_t *flags;
    uint32_t *largest_sequence;
    uint32_t *largest_item;
    uint32_t count;
    uint32_t stream;
};

// hd_area_counts: counts[a] = slots of area a that hold a pair (stream 0) or stderr text (stream 1), of the used[a] first
// ones; largest_sequence and largest_item as above. hd_area_slots: order[first[a] ...] = those slots, for each area.
struct AreaSlotsArgs {
    const Pair *pairs;
    const uint32_t *used;  // Task::area_slots
    uint32_t *counts;
    const uint64_t *first;  // scan of counts
    uint32_t *order;
    uint32_t *largest_sequence;
    uint32_t *largest_item;
    uint32_t count;  // areas
    uint32_t slots_per_area;
    uint32_t stream;
    uint32_t reserved;
};

// Merge sort of slots by (segment, key bytes, item, sequence). The pairs stay where they are (the paper's indirection).
// hd_sort_tiles: each tile of merge_tile slots by itself (width not used). hd_merge_runs: sorted runs of `width` slots,
// the last may be shorter, become sorted runs of 2 * width. `from` and `to` must not overlap.
struct MergeArgs {
    const char *arena;
    const Pair *pairs;
    const uint32_t *segment;
    const uint32_t *from;
    uint32_t *to;
    uint64_t width;
    uint32_t count;
    uint32_t reserved;
};

// Sort keys of the pairs order[0 ... count), keys[i] for order[i].
// hd_order_keys: item << 32 | sequence. hd_prefix_keys: key bytes [position, position + 8), the first the highest, zeros
// after the key's end. hd_clamp_keys: bytes from `position` to the key's end, 9 for all numbers above 8.
// hd_segment_keys: segment[order[i]].
struct KeysArgs {
    const char *arena;
    const Pair *pairs;
    const uint32_t *segment;
    const uint32_t *order;
    uint64_t *keys;
    uint32_t count;
    uint32_t position;
};

// hd_partitions: segment[order[i]] = Hadoop's HashPartitioner of the key; 0 for one reducer.
struct PartitionsArgs {
    const char *arena;
    const Pair *pairs;
    const uint32_t *order;
    uint32_t *segment;
    uint32_t count;
    uint32_t reducers;
};

// hd_tie_flags: member[i] = 1 if order[i] ties with a neighbour; start[i] = 1 if with the next but not with the previous.
struct TieFlagsArgs {
    const char *arena;
    const Pair *pairs;
    const uint32_t *order;
    const uint32_t *segment;
    uint8_t *member;
    uint32_t *start;
    uint32_t count;
    uint32_t position;
};

// hd_ties: see the plan. `place` null stands for 0 ... n - 1. order' and place' must not overlap order and place.
struct TiesArgs {
    const uint32_t *order;
    const uint32_t *place;
    const uint32_t *chosen;  // indices into order
    const uint32_t *start;   // of hd_tie_flags
    const uint64_t *rank;    // scan of start
    uint32_t *segment;
    uint32_t *tied_order;
    uint32_t *tied_place;
    uint32_t count;          // of chosen
    uint32_t reserved;
};

// hd_chunk_flags: flags[i] = 1 where a combine item begins: at the first new key in each window of chunk_pairs pairs and,
// with regroup, at the start of a whole window that holds no new key. Runs of up to chunk_pairs equal keys are never cut, and a
// longer one gives at most 1 + run / chunk_pairs items: so repeated combining ends.
// hd_run_flags: flags[i] = 1 where the key differs from that of the pair before (i = 0: always).
struct RunFlagsArgs {
    const char *arena;
    const Pair *pairs;
    const uint32_t *order;
    uint8_t *flags;
    uint32_t count;
    uint32_t regroup;
};

// hd_output_sizes (uses pairs, order, sizes): bytes of each line. hd_output: key, tab, value, newline; raw: the line as
// it was printed, and a newline (no tab is added).
struct OutputArgs {
    const char *arena;
    const Pair *pairs;
    const uint32_t *order;
    uint32_t *sizes;
    const uint64_t *offset;  // scan of sizes
    char *text;
    uint32_t count;
    uint32_t raw;
};

// hd_ifile_sizes, hd_ifile: the same as records of Hadoop's IFile (`raw` not used).

// hd_partition_starts (count + 1 elements): first[p] = how many pairs come before partition p, start[p] =
// offset[first[p]], for p = 0 ... reducers.
struct PartitionStartsArgs {
    const uint32_t *partitions;  // in order
    const uint64_t *offset;      // of the records, count + 1
    uint32_t *first;
    uint64_t *start;
    uint32_t count;
    uint32_t reducers;
};

// hd_disorder: *first (0xffffffff before) = the least i > 0 whose (partition, key) is less than that of i - 1.
struct DisorderArgs {
    const char *arena;
    const Pair *pairs;
    const uint32_t *order;
    const uint32_t *partitions;
    uint32_t *first;
    uint32_t count;
    uint32_t reserved;
};

// hd_iota: to[i] = i (from, index not used). hd_gather_u32: to[i] = from[index[i]]. hd_scatter_u32: to[index[i]] = from[i].
struct MoveArgs {
    const uint32_t *from;
    const uint32_t *index;
    uint32_t *to;
    uint32_t count;
    uint32_t reserved;
};

// hd_gather_u64: to[i] = from[index[i]].
struct GatherU64Args {
    const uint64_t *from;
    const uint32_t *index;
    uint64_t *to;
    uint32_t count;
    uint32_t reserved;
};

// hd_gather_pairs: to[i] = pairs[index[i]].
struct GatherPairsArgs {
    const Pair *pairs;
    const uint32_t *index;
    Pair *to;
    uint32_t count;
    uint32_t reserved;
};

}  // namespace hd
