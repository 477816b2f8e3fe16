// A map task on a device: sub-splits one after the other, each a sorted run, or lines where there is no reducer.
#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gpu/collected_run.h"
#include "gpu/host_records.h"
#include "task/epilogue.h"
#include "gpu/runs.h"
#include "gpu/session.h"
#include "task/failure_text.h"
#include "task/map_spec.h"
#include "base/text_output.h"

namespace hd {
namespace {

constexpr uint64_t kEmulatedSubSplit = 4 << 20, kSubSplit = 64 << 20, kLeastSubSplit = 1 << 20;
constexpr uint64_t kFoldedSubSplit = 128 << 20;  // of a map kernel that folds: its launches end with tables to empty
constexpr uint64_t kFirstSubSplit = 16 << 20;  // kernels start when this much is there, not with all of a usual one
constexpr uint64_t kWholeSplit = 256 << 20;     // where each sub-split would be a run for the CPU to merge
// Below these bytes per second of the map kernel reading beside it saves nothing; and each launch takes as long as its
// longest record does, so that the fewer there are the better.
constexpr double kSlowMap = 5e9;
constexpr uint64_t kTellingBytes = 8 << 20;    // of a task that shows how fast its kernel is
constexpr uint64_t kLongRecord = 256, kTimesMean = 4;  // bytes, and times the mean, from which a record is a long one
constexpr uint64_t kMostAlone = 256 << 20;  // bytes of records of a sub-split that the host does
constexpr uint64_t kNumberBytes = 24;  // a number and what stands before it take no more
constexpr uint64_t kMemoryPerByte = 32;  // device memory that a byte of input may take, text, pairs and sorting together

std::string bytes_text(uint64_t n) { return std::to_string(n) + (n == 1 ? " byte" : " bytes"); }

bool is_emulated(const Device &device) { return std::strcmp(device.kind(), "emulated") == 0; }

bool is_slow(const DeviceSession &session, const GpuMapSpec &spec) { return session.slow_map == text_of(spec.kernel.module); }
bool is_spread(const DeviceSession &session, const GpuMapSpec &spec) {
  return session.spread_map == text_of(spec.kernel.module);
}

IngestOptions ingest_options(const DeviceSession &session, const GpuMapSpec &spec) {
  const hd_gpu_options &options = spec.options;
  IngestOptions ingest{options.ingest_threads, options.workers, options.ingest_piece, options.sub_split_bytes,
                       options.keep_percent, 0};
  if (options.sub_split_bytes) return ingest;
  const bool merges = spec.map.reducers > 0 && !options.hash_fold && !options.ordered;
  const bool whole = merges || is_slow(session, spec);
  const bool folds = !merges && (options.ordered || (spec.kernel.flags & HD_MAP_FOLD && !is_spread(session, spec)));
  const uint64_t usual = is_emulated(*session.device) ? kEmulatedSubSplit : whole ? kWholeSplit : folds ? kFoldedSubSplit : kSubSplit;
  const uint64_t free = session.device->free_memory() + session.ingest.kept->memory();  // which goes when memory is short
  const uint64_t share = free / std::max<uint64_t>(options.sessions, 1);
  ingest.sub_split = std::clamp(share / kMemoryPerByte, kLeastSubSplit, usual);
  ingest.first = whole ? 0 : kFirstSubSplit;
  return ingest;
}

std::unique_ptr<Ingest> ingest_of(DeviceSession &session, const GpuMapSpec &spec, const TaskRun &task) {
  try {
    const IngestOptions options = ingest_options(session, spec);
    return open_ingest(session.ingest, records_of(spec.map), options, task.cancel);
  } catch (const OutOfDeviceMemory &e) {
    throw Error(kRunOnCpu, "the host has no " + bytes_text(e.bytes) + " for transfers to the device");
  }
}

// A record that the host does: behind it goes on what is at `end` of the sub-split.
struct AloneRecord {
  uint64_t start, end;
  std::unique_ptr<HostRecord> run;
};

// What one round has made of some lines, before any of it counts.
struct Piece {
  uint64_t records = 0, map_pairs = 0;
  std::string errors;     // for stderr
  PairAudit audit;
  DeviceLines lines;      // in sequence, without reducers
  HostPairs pairs;        // the run, where the CPU combines it
  DeviceRun run;
  uint64_t combined_pairs = 0;
  bool combined = false;  // by the device
  bool folded = false;    // the folder keeps them, or the ordered combiner; there are no pairs here
};

class GpuMapTask {
 public:
  GpuMapTask(DeviceSession &session, const GpuMapSpec &spec, TaskRun &task)
      : session_(session), spec_(spec), task_(task), collector_(collector_of(spec.map, task)),
        kernels_(*session.device, text_of(spec.options.runtime_module)),
        context_{*session.device, kernels_, spec.options, session.stats, task},
        ingest_(ingest_of(session, spec, task)), runs_(collector_, task, session.output),
        fold_(spec.options.fold && spec.combine && collector_.combine),
        regroup_(spec.options.regroup && collector_.regroup),
        longest_line_(longest_line(spec.map.line_max, std::max(collector_.check.values, 1u))),
        fold_spec_{collector_.check, fold_form(spec.options.hash_fold, collector_.check), longest_line_},
        hash_fold_(spec.options.hash_fold && regroup_ && fold_spec_.form.value.count),
        ordered_(spec.options.ordered && spec.combine && collector_.combine && spec.map.reducers > 0 &&
                 !spec.kernel.epilogue.argv),  // whose pairs come last
        ordered_spec_(ordered_spec(spec, longest_line_)), host_(spec_.map, spec_.kernel, task) {}

  ~GpuMapTask() {
    session_.output.stop();  // its files are closed next
    session_.device->forget_timings();
  }
  GpuMapTask(const GpuMapTask &) = delete;

  void run() {
    load_kernels();
    session_.folder.begin_task(text_of(spec_.kernel.module) + " " + text_of(spec_.kernel.entry));
    session_.ordered.begin_task();
    session_.output.begin_task({spec_.options.write_threads, spec_.options.write_piece, uint32_t(spec_.options.sessions)});
    if (map_only()) text_.emplace(collector_.out_path);
    task_.phase(HD_PHASE_FILTER);
    for (SubSplit next; (next = read()).size;) process(next, first_ && ingest_->ended() && !has_epilogue());
    while (!alone_runs_.empty()) take_alone();
    task_.counters.add(kMapInputRecords, ingest_->records(records_));
    task_.counters.add(kMapInputBytes, ingest_->bytes());
    if (first_) throw Error(kRunOnCpu, "the split holds no record");
    if (has_epilogue()) finish_records();
    task_.log.end_of_stream();
    finish_task(task_, [&] { finish(); });
    session_.device->settle_timings();
    ingest_->keep();
    take_note_of_pace();
  }

 private:
  // Of a map's line: what a fold makes of it, with other numbers, is not longer than is allowed either.
  static uint64_t longest_line(uint64_t line_max, uint64_t numbers) {
    return line_max ? line_max - std::min(line_max, numbers * kNumberBytes) : UINT64_MAX;
  }

  bool has_epilogue() const { return spec_.kernel.epilogue.argv != nullptr; }
  static OrderedSpec ordered_spec(const GpuMapSpec &spec, uint64_t longest_line) {
    if (!spec.options.ordered || !spec.combine) return {};
    const uint64_t longest_output = spec.map.line_max ? spec.map.line_max : UINT64_MAX;
    return {text_of(spec.combine->module), spec.options.ordered_values, spec.options.ordered_states, longest_line, longest_output};
  }

  bool map_only() const { return spec_.map.reducers == 0; }
  Workspace &space() { return *session_.workspace; }

  // For the tasks to come.
  void take_note_of_pace() {
    const uint64_t bytes = ingest_->bytes();
    if (bytes < kTellingBytes || is_emulated(*session_.device)) return;
    if (double(bytes) < kSlowMap * task_.seconds[HD_STAGE_MAP]) session_.slow_map = text_of(spec_.kernel.module);
  }

  void load_kernels() {
    session_.objects.begin_task();
    if (!session_.workspace) session_.workspace = std::make_unique<Workspace>(*session_.device);
    for (bool made = false; !made;) try {
        make_kernels();
        made = true;
      } catch (const OutOfDeviceMemory &e) {
        if (!give_back())
          throw Error(kRunOnCpu, "the device has no " + bytes_text(e.bytes) + " for the program's read-only data");
      }
  }

  void make_kernels() {
    map_.emplace(spec_.kernel, *session_.device, session_.objects);
    totals_.emplace(context_, spec_.kernel.totals);
    if (fold_ && !map_only()) combine_.emplace(*spec_.combine, *session_.device, session_.objects);
  }

  // The texts that are kept for later tasks go first where memory is short; false: there was none.
  bool give_back() { return session_.ingest.kept->release(*session_.device); }

  void new_workspace() {
    ingest_->release();
    session_.folder.release_tables();
    session_.ordered.release_tables();
    session_.workspace.reset();
    gave_back_ = give_back();
    session_.output.release();
    session_.workspace = std::make_unique<Workspace>(*session_.device);
  }

  SubSplit read() {
    return context_.book(HD_STAGE_READ, [&] { return ingest_->next(); });
  }

  // `only`: nothing comes before or after these records. A lack of device memory cuts them in two, and records that the host
  // does are cut out.
  void process(const SubSplit &part, bool only) {
    first_ = false;
    uint64_t lacking = try_piece(part, only);
    if (lacking && gave_back_) lacking = try_piece(part, only);
    if (!alone_.empty()) return process_around(part, std::exchange(alone_, {}));
    const uint64_t cut = lacking ? ingest_->middle(part) : 0;
    if (cut) {
      ++context_.stats.halvings;
      ingest_->limit(cut);
      process({part.at, cut}, false);
      return process({part.at + cut, part.size - cut}, false);
    }
    if (lacking) lacking = try_piece(part, only);  // once more, with what the sub-splits before had grown to
    if (!alone_.empty()) return process_around(part, std::exchange(alone_, {}));
    if (lacking)
      throw Error(kRunOnCpu, "record " + std::to_string(records_ + 1) + " of " + bytes_text(part.size) +
                                 ", its end included, needs more memory than the device has");
  }

  void process_around(const SubSplit &part, std::vector<AloneRecord> records) {
    uint64_t at = 0;
    for (AloneRecord &record : records) {
      if (record.start > at) process({part.at + at, record.start - at}, false);
      ++records_;
      ++context_.stats.alone;
      alone_runs_.push_back(std::move(record.run));
      // Where pairs are folded their order does not matter: the device goes on meanwhile.
      if (!(hash_fold_ && combine_ && fold_) || alone_runs_.size() > most_long) take_alone();
      at = record.end;
    }
    if (part.size > at) process({part.at + at, part.size - at}, false);
  }

  // What the earliest record of the host gives becomes the next run, or the next lines.
  void take_alone() {
    const std::unique_ptr<HostRecord> record = std::move(alone_runs_.front());
    alone_runs_.pop_front();
    context_.book(HD_STAGE_WAIT, [&] {
      task_.log.go_on();  // the device's stderr goes on with it
      if (text_) return record->finish(task_, [&](std::string_view key, std::string_view value) { text_->add(key, value); });
      CollectedRun run(collector_, combine_ && fold_ && regroup_, task_);
      record->finish(task_, [&](std::string_view key, std::string_view value) { run.add(key, value); });
      run.finish(runs_);
    });
  }

  // Records for which a launch would take much longer than for all others: one thread has one record. Not where a combiner needs
  // all pairs in their order on the device.
  std::vector<AloneRecord> records_for_host(const DeviceText &text) {
    if (!host_ || ordered_) return {};
    std::vector<AloneRecord> records;
    uint64_t bytes = 0;
    for (const LongRecord &one : space().records.few_long(context_)) {
      if ((bytes += one.length) > kMostAlone) return {};
      std::string record(one.length + 1, '\n');
      context_.download(record.data(), text.data + one.start, one.length);
      records.push_back({one.start, one.end, host_.begin(std::move(record))});
    }
    return records;
  }

  // Returns 0, or the bytes that could not be had: then nothing has been done, and all memory is free again. Nor has anything
  // where alone_ is not empty then.
  uint64_t try_piece(const SubSplit &part, bool only) {
    try {
      if (part.size > kMostSubSplit) return part.size;
      const DeviceText text = bring(part);
      space().records.load(context_, text);
      alone_ = records_for_host(text);
      if (!alone_.empty()) return 0;
      Piece piece = run_piece(part, only);
      commit(piece, only);
      return 0;
    } catch (const OutOfDeviceMemory &e) {
      new_workspace();
      return std::max<uint64_t>(e.bytes, 1);
    }
  }

  // The part's records are there.
  Piece run_piece(const SubSplit &part, bool only) {
    Workspace &s = space();
    const bool folds = combine_ && fold_ && hash_fold_, mapped = folds && map_->folds() && !is_spread(session_, spec_);
    launch(part, mapped);
    Piece piece;
    piece.records = s.records.count();
    if (folds && !s.store.areas().used && fold(piece, mapped)) return piece;
    if (mapped) launch(part, false);  // all pairs are needed
    piece.errors = errors();
    context_.stage(HD_STAGE_SORT, [&] {
      s.sorter.collect(context_, s.store, Stream::pairs, s.order);
      if (map_only()) s.sorter.in_sequence(context_, s.store, s.order);
    });
    piece.map_pairs = s.order.count;
    if (ordered_) return step(piece);
    piece.audit = s.auditor.count(context_, s.store, s.order, map_only() ? PairCheck{} : collector_.check, longest_line_);
    if (piece.audit.too_long)
      throw Error(kRunOnCpu, "a line of the map's output has about " + bytes_text(spec_.map.line_max) + " or more");
    if (map_only()) piece.lines = s.gather.lines(context_, s.store, s.order, session_.output);
    else make_run(piece, only);
    return piece;
  }

  // The text for stderr that the map kernel left, in the order of the program.
  std::string errors() {
    Workspace &s = space();
    context_.stage(HD_STAGE_SORT, [&] {
      s.sorter.collect(context_, s.store, Stream::errors, s.errors);
      s.sorter.in_sequence(context_, s.store, s.errors);
    });
    return s.errors.count ? s.gather.errors(context_, s.store, s.errors) : std::string();
  }

  // The combiner's steps; last, because a piece that lacks memory is done again.
  Piece step(Piece &piece) {
    Workspace &s = space();
    piece.audit.bytes = session_.ordered.add(context_, ordered_spec_, s.store, s.order, s.ordered, records_ + 1);
    piece.folded = true;
    return std::move(piece);
  }

  // Brings the pairs of a key together, `mapped`: with what the map kernel folded itself. False where some do not read back:
  // then nothing has happened.
  bool fold(Piece &piece, bool mapped) {
    Workspace &s = space();
    const FoldedPairs found = session_.folder.fold(context_, s.store, fold_spec_, mapped);
    if (!found.usable()) return false;
    context_.stats.map_folded += found.mapped;
    if (found.too_many) session_.spread_map = text_of(spec_.kernel.module);
    if (found.errors) piece.errors = errors();
    piece.map_pairs = found.pairs;
    piece.audit = {found.bytes, 0};
    session_.folder.keep(context_, s.store, fold_spec_);  // last: a piece that lacks memory is done again
    return piece.folded = true;
  }

  DeviceText bring(const SubSplit &part) {
    context_.book(HD_STAGE_READ, [&] { ingest_->read(part); });
    const bool kept = ingest_->kept();
    (kept ? context_.stats.kept_bytes : context_.stats.read_bytes) += part.size;
    if (!kept) context_.stats.bytes_in += part.size;
    return context_.stage(HD_STAGE_COPY_IN, [&] { return ingest_->bring(part); });
  }

  // The map kernel over the records that are there; `mapped`: it folds its pairs as far as it can.
  void launch(const SubSplit &part, bool mapped) {
    DeviceRecords &records = space().records;
    LaunchInput input;
    if (mapped)
      input.fold = [&](uint64_t threads) { return session_.folder.begin_map(context_, fold_spec_, threads, part.size); };
    input.stage = [&] { return records.stage(context_); };
    input.order = spec_.options.record_order ? nullptr : records.longest_first(context_, is_slow(session_, spec_));
    input.long_bytes = long_bytes(part.size, records.count());
    input.items = records.count();
    input.text_bytes = part.size;
    input.totals = &*totals_;
    const Failure failure = launch_kernel(context_, *map_, input, space().store, HD_STAGE_MAP);
    if (failure.status) throw Error(kRunOnCpu, describe(failure, "record " + std::to_string(records_ + failure.item + 1)));
  }

  // Records of several times the mean are those that a launch ends with.
  static uint32_t long_bytes(uint64_t text, uint32_t records) {
    return uint32_t(std::min<uint64_t>(std::max<uint64_t>(kLongRecord, kTimesMean * text / std::max(records, 1u)), UINT32_MAX));
  }

  void make_run(Piece &piece, bool only) {
    Workspace &s = space();
    const uint32_t reducers = spec_.map.reducers;
    context_.stage(HD_STAGE_SORT, [&] { s.sorter.by_key(context_, s.store, reducers, s.order); });
    piece.combined = combine_ && may_fold(piece.audit) && (regroup_ || only);
    OrderedPairs out{&s.store, &s.order};
    if (piece.combined) out = s.combiner.run(context_, *combine_, out, s.sorter, regroup_);
    const uint32_t *const partitions =
        context_.stage(HD_STAGE_SORT, [&] { return s.sorter.partitions(context_, *out.store, reducers, *out.order); });
    if (only && collector_.combine && !piece.combined) {
      piece.pairs = s.gather.pairs(context_, *out.store, *out.order, partitions);
      return;
    }
    if (piece.combined) s.formatter.check_order(context_, out, partitions);
    piece.combined_pairs = out.order->count;
    piece.run = s.formatter.format(context_, out, partitions, reducers, session_.output);
  }

  // A pair that the combiner's reader takes for another one ends a fold.
  bool may_fold(const PairAudit &audit) {
    if (audit.unreadable && (runs_.combined() || !session_.folder.empty()))
      throw Error(kRetryNoFold, "a pair does not read back through the combiner's reader");
    return fold_ = fold_ && audit.unreadable == 0;
  }

  // Nothing here needs the device any more.
  void commit(const Piece &piece, bool only) {
    totals_->keep();
    task_.log.write(piece.errors.data(), piece.errors.size());
    if (only) task_.log.end_of_stream();  // before a combiner's stderr
    count(piece);
    if (piece.folded) {
      if (!ordered_ && session_.folder.full(*session_.device)) write_folded(false);
    } else context_.book(HD_STAGE_WRITE, [&] {
      if (text_) write_lines(piece.lines);
      else if (piece.run.first.empty()) runs_.combine(piece.pairs);
      else if (only) runs_.write(piece.run);
      else runs_.spill(piece.run, piece.combined);
    });
    written_ = only && !piece.folded;
    ++context_.stats.sub_splits;
  }

  void write_lines(const DeviceLines &lines) {
    context_.stats.bytes_out += lines.bytes;
    session_.output.begin({lines.text, text_->range(lines.bytes, session_.output.many_threads()), nullptr, task_.cancel});
  }

  void count(const Piece &piece) {
    Counters &counters = task_.counters;
    counters.add(kMapOutputRecords, piece.map_pairs);
    counters.add(kMapOutputBytes, piece.audit.bytes);
    counters.add(kUnreadablePairs, piece.audit.unreadable);
    if (piece.combined || piece.folded) counters.add(kCombineInputRecords, piece.map_pairs);
    if (piece.combined) counters.add(kCombineOutputRecords, piece.combined_pairs);
    records_ += piece.records;
    task_.progress.records_in = ingest_->records(records_);
    task_.progress.bytes_in = ingest_->bytes();
    task_.progress.pairs_out = counters.value[kMapOutputRecords];
    task_.progress.bytes_out = counters.value[kMapOutputBytes];
  }

  // What the folder keeps, combined, becomes a run; `last`: the only one, if there was none before.
  void write_folded(bool last) {
    DeviceRun run;
    try {
      run = combine_folded();
    } catch (const OutOfDeviceMemory &) {
      new_workspace();  // what the sub-splits needed
      run = combine_folded_alone();
    }
    task_.counters.add(kCombineOutputRecords, run.count());
    session_.folder.clear();
    context_.book(HD_STAGE_WRITE, [&] {
      if (last && !runs_.any()) {
        runs_.write(run);
        written_ = true;
      } else {
        runs_.spill(run, true);
      }
    });
  }

  DeviceRun combine_folded() {
    Workspace &s = space();
    const OrderedPairs lines = session_.folder.lines(context_, fold_spec_);
    const uint32_t reducers = spec_.map.reducers;
    context_.stage(HD_STAGE_SORT, [&] { s.sorter.by_key(context_, *lines.store, reducers, *lines.order, true); });
    const OrderedPairs out = s.combiner.run(context_, *combine_, lines, s.sorter, true);
    const uint32_t *const partitions =
        context_.stage(HD_STAGE_SORT, [&] { return s.sorter.partitions(context_, *out.store, reducers, *out.order); });
    s.formatter.check_order(context_, out, partitions);
    return s.formatter.format(context_, out, partitions, reducers, session_.output);
  }

  DeviceRun combine_folded_alone() {
    try {
      return combine_folded();
    } catch (const OutOfDeviceMemory &e) {
      throw Error(kRunOnCpu, "the device has no " + bytes_text(e.bytes) + " to combine what the sub-splits gave");
    }
  }

  // The code behind the region: its pairs are the task's last ones.
  void finish_records() {
    const std::string totals = totals_->bytes();
    if (text_)
      return run_epilogue(spec_.kernel.epilogue, totals, spec_.map.line_max, task_,
                          [&](std::string_view key, std::string_view value) { text_->add(key, value); });
    if (!session_.folder.empty()) write_folded(false);
    CollectedRun run(collector_, runs_.combined(), task_);
    run_epilogue(spec_.kernel.epilogue, totals, spec_.map.line_max, task_,
                 [&](std::string_view key, std::string_view value) { run.add(key, value); });
    run.finish(runs_);
  }

  void finish() {
    if (text_) return write_text();
    if (ordered_) return write_ordered();
    if (!session_.folder.empty()) write_folded(true);
    if (!written_) runs_.merge();
  }

  void write_text() {
    session_.output.finish();
    text_->commit();
  }

  // What the ordered combiner keeps becomes the task's output.
  void write_ordered() {
    DeviceRun run;
    try {
      run = combine_ordered();
    } catch (const OutOfDeviceMemory &) {
      new_workspace();  // what the sub-splits needed
      try {
        run = combine_ordered();
      } catch (const OutOfDeviceMemory &e) {
        throw Error(kRetryNoFold, "the device has no " + bytes_text(e.bytes) + " for what is kept of so many keys");
      }
    }
    task_.counters.add(kCombineOutputRecords, run.count());
    context_.book(HD_STAGE_WRITE, [&] { runs_.write(run); });
  }

  DeviceRun combine_ordered() {
    Workspace &s = space();
    const uint32_t reducers = spec_.map.reducers;
    const OrderedPairs lines = session_.ordered.lines(context_, ordered_spec_);
    const uint32_t *const partitions = context_.stage(HD_STAGE_SORT, [&] {
      s.sorter.by_key(context_, *lines.store, reducers, *lines.order, true);
      return s.sorter.partitions(context_, *lines.store, reducers, *lines.order);
    });
    s.formatter.check_order(context_, lines, partitions);
    return s.formatter.format(context_, lines, partitions, reducers, session_.output);
  }

  DeviceSession &session_;
  const GpuMapSpec spec_;
  TaskRun &task_;
  const CollectorOptions collector_;
  RuntimeKernels kernels_;
  GpuContext context_;
  const std::unique_ptr<Ingest> ingest_;
  RunWriter runs_;
  std::optional<TextOutput> text_;
  std::optional<UserKernel> map_, combine_;
  std::optional<TaskTotals> totals_;
  bool fold_, regroup_;
  const uint64_t longest_line_;
  const FoldSpec fold_spec_;
  const bool hash_fold_, ordered_;
  const OrderedSpec ordered_spec_;
  HostRecords host_;
  std::vector<AloneRecord> alone_;                       // of the sub-split that is to be cut
  std::deque<std::unique_ptr<HostRecord>> alone_runs_;  // of those before
  bool first_ = true, written_ = false;
  bool gave_back_ = false;  // the last lack of memory ended with more of it than before
  uint64_t records_ = 0;      // done
};

}  // namespace

void run_gpu_map_task(DeviceSession &session, const GpuMapSpec &spec, TaskRun &task) {
  if (text_of(spec.map.out_path).empty()) throw Error(kBadInput, "a map task needs an output path");
  if (spec.options.sort_kind > HD_MERGE_SORT) throw Error(kBadInput, "unknown kind of sort");
  const hd_gpu_options &o = spec.options;
  session.device->emulate({o.emu_order, o.emu_pattern, o.emu_seed, o.emu_memory});
  session.device->limit_memory(uint64_t(o.memory_mib) << 20, std::max<uint64_t>(o.sessions, 1));
  GpuMapTask(session, spec, task).run();
}

}  // namespace hd
