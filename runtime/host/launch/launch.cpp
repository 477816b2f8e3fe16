#include "launch/launch.h"

#include <algorithm>

#include "../../device/steps/kernels.h"

namespace hd {
namespace {

constexpr uint64_t kMostPairs = 0xffffff00;  // slots are numbered in 32 bits
constexpr uint64_t kReadAhead = 16;          // text is read in words, up to the next multiple of 16
constexpr uint64_t kMinArena = 64 << 10, kMinPairs = 4096;
constexpr uint64_t kBytesPerPair = 4, kBytesPerKey = 64;  // of input, at the least, by a first guess

// The room of a launch's store.
struct Room {
  uint64_t arena = 0, pairs = 0;
  uint32_t slots_per_thread = 0, slot_bytes = 0;  // ThreadArea
};

uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

bool thread_areas(const UserKernel &kernel) { return kernel.spec().sink == HD_THREAD_AREA; }
bool scanned_areas(const UserKernel &kernel) { return thread_areas(kernel) && kernel.spec().flags & HD_SCAN_AREAS; }

// BlockCursor: for twice the input's text, in short words, and what the blocks leave unused; not less than there is already.
Room cursor_room(const GpuContext &context, const LaunchInput &input, uint32_t blocks, const Room &present) {
  const hd_gpu_options &o = context.options;
  const uint64_t arena = o.arena_bytes ? o.arena_bytes : kMinArena + 2 * input.text_bytes + uint64_t(blocks) * arena_chunk;
  const uint64_t per_pair = input.fold ? kBytesPerKey : kBytesPerPair;
  const uint64_t pairs = o.pairs ? o.pairs : kMinPairs + input.text_bytes / per_pair + uint64_t(blocks) * slot_chunk;
  return {std::max(arena, present.arena), std::min(std::max(pairs, present.pairs), kMostPairs), 0, 0};
}

// ThreadArea: every worker has its own slots of one size. Workers take items as they come, so that some get more.
Room area_room(const UserKernel &kernel, uint32_t items, uint64_t workers) {
  const hd_kernel_spec &spec = kernel.spec();
  const uint64_t share = 2 * ((items + workers - 1) / workers) * std::max<uint64_t>(spec.kvpairs, 1);
  const uint64_t slots = share * kernel.slots_factor;
  const uint64_t bytes = round_up(uint64_t(spec.key_bytes) + spec.value_bytes + 2, 16) * kernel.bytes_factor;
  const uint64_t pairs = workers * slots;
  if (pairs > kMostPairs || bytes > UINT32_MAX) throw OutOfDeviceMemory{pairs * sizeof(Pair)};
  return {pairs * bytes, pairs, uint32_t(slots), uint32_t(bytes)};
}

}  // namespace

// One launch and its repetitions.
class KernelLaunch {
 public:
  KernelLaunch(GpuContext &context, UserKernel &kernel, const LaunchInput &input, DeviceStore &store, hd_stage stage)
      : context_(context), kernel_(kernel), input_(input), store_(store), stage_(stage),
        blocks_(kernel.blocks(input.items)) {}

  Failure run() {
    // All slots are filled before a launch: where few are needed, no more than that.
    const uint64_t slots = input_.fold ? std::min(2 * store_.few_slots_, store_.pairs_.capacity()) : store_.pairs_.capacity();
    present_ = {store_.arena_.capacity() - std::min(store_.arena_.capacity(), kReadAhead), slots, 0, 0};
    for (;; ++context_.stats.retries) {
      const Room room = provide();
      const RecordTable records = input_.stage();
      const LaunchWords words = context_.stage(stage_, [&] { return launch(records, room); });
      store_.slots_ = uint32_t(thread_areas(kernel_) ? room.pairs : std::min<uint64_t>(words.pairs_used, room.pairs));
      const auto status = static_cast<Status>(words.failure.status);
      if (status != Status::arena_full && status != Status::pairs_full) {
        // The first launch of a task is a small one, and says little of the next.
        if (input_.fold) store_.few_slots_ = std::max<uint64_t>(store_.slots_, store_.few_slots_ - store_.few_slots_ / 8);
        return words.failure;
      }
      grow(status, words, room);
    }
  }

 private:
  Room provide() {
    const uint64_t workers = uint64_t(blocks_) * kernel_.workers();
    const Room room = thread_areas(kernel_) ? area_room(kernel_, input_.items, workers)
                                            : cursor_room(context_, input_, blocks_, present_);
    store_.arena_.reserve(room.arena + kReadAhead);
    store_.pairs_.reserve(room.pairs);
    store_.words_.reserve(1);
    store_.areas_ = {};
    if (scanned_areas(kernel_)) store_.areas_ = {store_.used_.reserve(workers), uint32_t(workers), room.slots_per_thread};
    return room;
  }

  LaunchWords launch(const RecordTable &records, const Room &room) {
    LaunchWords *const words = store_.words_.data();
    context_.device.fill(words, 0, sizeof *words);
    if (store_.areas_.used) context_.device.fill(store_.used_.data(), 0, store_.areas_.count * sizeof(uint32_t));
    else context_.device.fill(store_.pairs_.data(), 0xff, room.pairs * sizeof(Pair));
    Task task{};
    task.in = records;
    task.out = {store_.arena_.data(), room.arena, &words->arena_used,
                store_.pairs_.data(), room.pairs, &words->pairs_used};
    task.begin = input_.begin;
    task.order = input_.order;
    task.items = input_.items;
    task.long_bytes = input_.order ? input_.long_bytes : 0;
    task.slots_per_thread = room.slots_per_thread;
    task.slot_bytes = room.slot_bytes;
    task.next = &words->next;
    task.failure = &words->failure;
    task.area_slots = store_.areas_.used ? store_.used_.data() : nullptr;
    if (input_.totals) task.totals = input_.totals->begin();
    if (input_.fold) task.fold = input_.fold(uint64_t(blocks_) * kernel_.threads());
    void *arguments[] = {&task, kernel_.shared()};
    context_.device.launch({kernel_.entry(), blocks_, kernel_.threads(), 0}, arguments);
    return context_.fetch(words);
  }

  // At least to what the launch would have needed, at least twice what it had. Both may have been short.
  void grow(Status status, const LaunchWords &words, const Room &room) {
    if (thread_areas(kernel_)) {
      (status == Status::arena_full ? kernel_.bytes_factor : kernel_.slots_factor) *= 2;
      return;
    }
    const auto enough = [](uint64_t had, uint64_t used) { return used > had ? std::max(2 * had, used) : had; };
    present_.arena = enough(room.arena, words.arena_used);
    present_.pairs = enough(room.pairs, words.pairs_used);
    if (status == Status::arena_full) present_.arena = std::max(present_.arena, 2 * room.arena);
    if (status == Status::pairs_full) present_.pairs = std::max(present_.pairs, 2 * room.pairs);
    if (present_.pairs > kMostPairs && room.pairs == kMostPairs) throw OutOfDeviceMemory{present_.pairs * sizeof(Pair)};
    // A kernel whose pairs are too many for it to fold them writes as many as another.
    if (input_.fold) present_.pairs = std::max(present_.pairs, kMinPairs + input_.text_bytes / kBytesPerPair);
    present_.pairs = std::min(present_.pairs, kMostPairs);
  }

  GpuContext &context_;
  UserKernel &kernel_;
  const LaunchInput &input_;
  DeviceStore &store_;
  const hd_stage stage_;
  const uint32_t blocks_;
  Room present_;
};

Failure launch_kernel(GpuContext &context, UserKernel &kernel, const LaunchInput &input, DeviceStore &store,
                      hd_stage which) {
  return KernelLaunch(context, kernel, input, store, which).run();
}

DeviceStore::Lines DeviceStore::grow(uint64_t text, uint64_t arena_bytes, uint64_t pairs) {
  if (pairs > kMostPairs) throw OutOfDeviceMemory{pairs * sizeof(Pair)};
  reserve_more(arena_, text, arena_bytes + kReadAhead);
  reserve_more(pairs_, slots_, pairs);
  areas_ = {};
  return {arena_.data(), pairs_.data()};
}

void DeviceStore::release() {
  arena_.reset();
  pairs_.reset();
  words_.reset();
  used_.reset();
  areas_ = {};
}

}  // namespace hd
