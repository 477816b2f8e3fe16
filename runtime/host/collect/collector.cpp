#include "collect/collector.h"

#include <algorithm>
#include <array>

#include "collect/combine.h"
#include "collect/group_table.h"
#include "ifile/ifile.h"
#include "collect/pair_check.h"
#include "collect/spill_set.h"

namespace hd {
namespace {

constexpr size_t kBatch = 64;  // pairs whose slots and groups are fetched from memory together
constexpr size_t kBatchText = 8 << 10;

// What is left for the table: all but the output buffer, a combiner's text piece, the partition bounds, and the unused
// rest of the huge page that ends each of its arrays.
uint64_t table_limit(const CollectorOptions &options) {
  const uint64_t page_ends = std::min<uint64_t>(options.sort_bytes / 16, 8 << 20);
  const uint64_t fixed = output_buffer(options.sort_bytes) + (64 << 10) + 16 * uint64_t(options.partitions) + page_ends;
  return options.sort_bytes > 2 * fixed ? options.sort_bytes - fixed : options.sort_bytes / 2;
}

}  // namespace

struct Collector::State {
  const CollectorOptions options;
  Counters &counters;
  const Cancel cancel;
  SpillContext context;
  Combiner combiner;
  GroupTable table;
  std::array<HashedPair, kBatch> batch;
  std::array<char, kBatchText> batch_text;  // of its long keys and values
  size_t batched = 0, text_used = 0;
  SpillSet spills;
  bool regroup;
  bool combined = false;  // a spill has been through the combiner (then all have)

  State(const CollectorOptions &o, Counters &n, const Cancel &c)
      : options(o), counters(n), cancel(c), context{o.partitions, output_buffer(o.sort_bytes), n, cancel, false, options.keeper.get(), options.combine_in},
        combiner(options, n), table(table_limit(o)), spills(options, context), regroup(o.regroup && o.combine) {}

  void add(std::string_view key, std::string_view value) {
    if (options.once) return add_once(key, value);
    if (batched == kBatch) drain();
    HashedPair &p = batch[batched];
    if (key.size() > kShort || value.size() > kInlineValue) [[unlikely]] return add_long(key, value);
    ++batched;
    set_short(p, key, value);
    table.prefetch_slot(p.tag);
  }

  void add_once(std::string_view key, std::string_view value) {
    HashedPair p;
    if (key.size() > kShort || value.size() > kInlineValue) [[unlikely]] {
      check_text_size(key, value);
      set_long(p, key, value);
    } else {
      set_words(p, key, value);
    }
    if (table.add_new(p)) [[likely]] return;
    spill();
    table.add_new(p);
  }

  static void set_words(HashedPair &p, std::string_view key, std::string_view value) {
    p.key_words = load_words(key.data(), key.size());
    p.value_word = load_words(value.data(), value.size()).lo;
    p.key_length = uint8_t(key.size());
    p.value_length = uint8_t(value.size());
  }

  static void set_short(HashedPair &p, std::string_view key, std::string_view value) {
    set_words(p, key, value);
    p.tag = uint32_t(hash_words(p.key_words, key.size()) >> 32);
  }

  static void set_long(HashedPair &p, std::string_view key, std::string_view value) {
    set_short(p, key.substr(0, kShort), value.substr(0, kInlineValue));
    p.key = key;
    p.value = value;
    if (value.size() > kInlineValue) p.value_length = kLong;
    if (key.size() <= kShort) return;
    p.key_length = kLong;
    p.tag = uint32_t(hash_bytes(key.data(), key.size()) >> 32);
  }

  // Out of line, as drain is: add() is called for every pair and should save few registers. The caller's bytes are
  // there during the call only, so they are copied to wait with the batch; a huge pair does not wait.
  [[gnu::noinline]] void add_long(std::string_view key, std::string_view value) {
    const size_t n = key.size() + value.size();
    if (n > kBatchText - text_used) drain();
    HashedPair &p = batch[batched];
    if (n > kBatchText) {
      check_text_size(key, value);
      set_long(p, key, value);
      return put(p);
    }
    char *text = batch_text.data() + text_used;
    memcpy(text, key.data(), key.size());
    memcpy(text + key.size(), value.data(), value.size());
    set_long(p, {text, key.size()}, {text + key.size(), value.size()});
    text_used += n;
    ++batched;
    table.prefetch_slot(p.tag);
  }

  [[gnu::noinline]] void drain() {
    const size_t n = std::exchange(batched, 0);
    text_used = 0;
    for (size_t i = 0; i < n; ++i) table.prefetch_group(batch[i].tag);
    for (size_t i = 0; i < n; ++i) put(batch[i]);
  }

  void put(const HashedPair &p) {
    if (table.add(p)) [[likely]] return;
    spill();
    table.add(p);
  }

  // Before a load may be combined: does every pair read back? A fold that misreads must not be run in pieces.
  void check_pairs() {
    const uint64_t unreadable = unreadable_pairs(options.check, table);
    if (unreadable == 0) return;
    counters.add(kUnreadablePairs, unreadable);
    if (combined) throw Error(kRetryNoFold, "a pair does not read back through the combiner's reader");
    regroup = false;
  }

  void spill() {
    cancel.check();
    check_pairs();
    const std::string path = spills.next_path();
    IFileWriter out(path, context.buffer_bytes, cancel);
    write_load(context, table, regroup ? &combiner : nullptr, out);
    spills.commit(out, path);
    combined = combined || regroup;
    counters.add(kSpills);
    table.clear();
  }

  void finish(bool done) {
    drain();
    const bool direct = spills.empty();
    if (direct) {
      check_pairs();
    } else if (!table.empty()) {
      spill();
    }
    if (!direct) table.release();
    Combiner *last = combiner && !done ? &combiner : nullptr;
    context.once = done;
    IFileWriter out(options.out_path, context.buffer_bytes, cancel);
    if (direct) {
      write_load(context, table, last, out);
    } else {
      spills.merge(last, combined, out);
    }
    out.commit(options.index_path);
    counters.add(kMapOutputMaterializedBytes, out.bytes());
  }
};

Collector::Collector(const CollectorOptions &options, Counters &counters, const Cancel &cancel)
    : state_(std::make_unique<State>(options, counters, cancel)) {}

Collector::~Collector() = default;

void Collector::add(std::string_view key, std::string_view value) { state_->add(key, value); }

void Collector::finish(bool combined) { state_->finish(combined); }

}  // namespace hd
