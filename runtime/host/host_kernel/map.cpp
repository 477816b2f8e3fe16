// A map task whose map filter is another program, the host kernel: a split's records go in, and out come the map's lines, or
// where it does the combiner's work, too, the combiner's, in any order. It does the task exactly or not at all: whatever is not as
// expected throws Error kHostLeft, and filters do it.
#include "host_kernel/map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <optional>

#include "collect/combine.h"
#include "filter/pair_splitter.h"
#include "host_kernel/text.h"
#include "task/epilogue.h"
#include "task/map_spec.h"
#include "task/split_input.h"
#include "task/task.h"

namespace hd {

namespace {

// With a place of its own in it: tasks that run at a time read the same file.
Fd opened_again(int fd) {
  return needed_fd(::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDONLY | O_CLOEXEC), "live-ins for a host kernel");
}

// It reads its file itself, and cannot.
struct WantsPipe {};

bool folds(const hd_map_spec &spec) { return spec.flags & HD_HOST_FOLDS; }
bool has_epilogue(const hd_map_spec &spec) { return spec.epilogue.argv != nullptr; }

// The program, once.
class Program {
 public:
  Program(const hd_map_spec &spec, TaskRun &task) : spec_(spec), task_(task) {
    if (spec.live_ins_fd >= 0) live_ins_ = above_childs(opened_again(spec.live_ins_fd).get(), "a host kernel's live-ins");
  }

  // `source`: its stdin; `text`: the file that it is, which the program reads itself, or null. Throws WantsPipe, Error kHostLeft.
  HostReport run(Source &source, const HostText *text, Sink &sink) {
    Command command = command_of(spec_.host, task_);
    if (text) command.argv.push_back(std::to_string(text->size()));
    command.data_fd = report_file_.fd();
    command.more_fd = live_ins_.get();
    const double combined = task_.seconds[HD_STAGE_COMBINE];
    const FilterEnd end = run_filter(command, source, sink, task_.log, task_.cancel);
    book_times(task_, end.times, combined);
    if (text && end.signal == 0 && end.exit_code == kHostWantsPipe) throw WantsPipe();
    const auto place = [](const HostReport &left) { return "record " + std::to_string(left.record + 1); };
    const HostReport report = report_file_.judge(end, place, folds(spec_));
    if (const uint64_t unread = text ? text->unread() : end.unread)
      throw Error(kHostLeft, "the host kernel left " + std::to_string(unread) + " bytes unread");
    return report;
  }

 private:
  const hd_map_spec &spec_;
  TaskRun &task_;
  const ReportFile report_file_;
  Fd live_ins_;
};

// All that it printed is there.
void check_printed(const HostReport &report, uint64_t printed) {
  if (report.text != printed)
    malformed_report("says " + std::to_string(report.text) + " bytes, and there are " + std::to_string(printed));
}

// A task's run of the program.
class HostRun {
 public:
  // `text`: what the program reads itself; null: it gets the records by a pipe.
  HostRun(const hd_map_spec &spec, TaskRun &task, HostText *text)
      : spec_(spec), task_(task), text_(text), program_(spec, task) {
    if (!text) piped_.emplace(spec, task);
  }

  // Gives `sink` its output, but nothing where there is no record, and counts its input; `behind`, which may be the same, gets
  // the epilogue's. Throws WantsPipe, Error kHostLeft.
  HostReport run(Sink &sink, Sink &behind) {
    NullSink nothing;
    const bool empty = piped_ && piped_->empty();
    const HostReport report = map(empty ? static_cast<Sink &>(nothing) : sink);
    count_input(report);
    if (has_epilogue(spec_)) run_behind(report, empty ? static_cast<Sink &>(nothing) : behind);
    if (!empty) sink.finish();
    if (!empty && &behind != &sink) behind.finish();
    return empty ? HostReport{} : report;
  }

 private:
  HostReport map(Sink &sink) {
    uint64_t printed = 0;
    ObservedSink output(sink, [&](size_t n) {
      printed += n;
      task_.progress.bytes_out = task_.progress.bytes_out + n;
      task_.progress.pairs_out = task_.counters.value[kMapOutputRecords];
    });
    task_.phase(HD_PHASE_FILTER);
    Source &source = text_ ? static_cast<Source &>(*text_) : piped_->source();
    if (has_epilogue(spec_)) task_.log.go_on();
    const HostReport report = program_.run(source, text_, output);
    judge(report, printed);
    return report;
  }

  void run_behind(const HostReport &report, Sink &sink) {
    ObservedSink output(sink, [&](size_t n) { task_.progress.bytes_out = task_.progress.bytes_out + n; });
    run_epilogue(spec_.epilogue, report.totals, output, task_, kHostLeft);
  }

  void judge(const HostReport &report, uint64_t printed) const {
    if (!folds(spec_)) check_printed(report, printed);
    if (spec_.line_max && report.longest > spec_.line_max)
      throw Error(kHostLeft, "the mapper printed a line of more than " + std::to_string(spec_.line_max) + " bytes");
    if (report.partial && !(spec_.flags & HD_REGROUP)) malformed_report("says that keys are there twice");
  }

  void count_input(const HostReport &report) {
    if (piped_) {
      // With a delimiter of the user's own a record may be several lines, and each is a record to the program.
      if (report.records != piped_->records() && spec_.delimiter_len == 0)
        malformed_report("says " + std::to_string(report.records) + " records, and there are " + std::to_string(piped_->records()));
      return piped_->count();
    }
    task_.counters.add(kMapInputRecords, report.records);
    task_.counters.add(kMapInputBytes, text_->bytes());
    task_.progress.records_in = report.records;
    task_.progress.bytes_in = text_->bytes();
  }

  const hd_map_spec &spec_;
  TaskRun &task_;
  HostText *const text_;
  Program program_;
  std::optional<SplitInput> piped_;
};

// Its lines are what the combiner prints, or would combine once more: neither is checked, nor combined before the end.
CollectorOptions folded(const hd_map_spec &spec, TaskRun &task) {
  if (text_of(spec.out_path).empty() || !spec.combine.argv || !spec.reducers)
    throw Error(kBadInput, "a host kernel that folds needs an output path, a combiner and reducers");
  CollectorOptions options = collector_of(spec, task);
  options.regroup = false;
  options.once = true;
  options.check = {};
  return options;
}

void count(const HostReport &report, uint64_t lines, TaskRun &task) {
  if (lines != report.keys)
    malformed_report("says " + std::to_string(report.keys) + " keys, and there are " + std::to_string(lines));
  task.counters.add(kMapOutputRecords, report.pairs);
  task.counters.add(kMapOutputBytes, report.bytes);
  task.progress.pairs_out = report.pairs;
}

// A pair of the epilogue, which the combiner takes together with lines of its own.
void check_pair(const hd_map_spec &spec, const PairCheck &check, std::string_view key, std::string_view value) {
  if (!(spec.flags & HD_REGROUP))
    throw Error(kHostLeft, "the code behind the region prints pairs, and those before are combined already");
  if (!check.accepts(key, value))
    throw Error(kHostLeft, "a pair of the code behind the region does not read back through the combiner's reader");
}

// Where the combiner took the lines and the epilogue's pairs together, it is all the same as if it had taken all pairs.
void count_combined(const HostReport &report, uint64_t behind, TaskRun &task) {
  const bool again = behind && !report.partial;
  task.counters.add(kCombineInputRecords, again ? report.pairs - std::min(report.pairs, report.keys) : report.pairs);
  if (!again) task.counters.add(kCombineOutputRecords, report.keys);
}

void run_folding(const hd_map_spec &spec, TaskRun &task, HostText *text) {
  HostRun host(spec, task, text);
  Counters printed;
  Collector collector(folded(spec, task), task.counters, task.cancel);
  PairSplitter lines([&](std::string_view key, std::string_view value) { collector.add(key, value); },
                     LineLimit{spec.line_max, "host kernel"}, printed, kMapOutputRecords);
  const PairCheck check = collector_of(spec, task).check;
  uint64_t behind = 0;
  PairSplitter more([&](std::string_view key, std::string_view value) {
    check_pair(spec, check, key, value);
    ++behind;
    collector.add(key, value);
  }, LineLimit{spec.line_max, "map filter"}, task.counters, kMapOutputRecords, kMapOutputBytes);
  const HostReport report = host.run(lines, more);
  count(report, printed.value[kMapOutputRecords], task);
  finish_task(task, [&] { collector.finish(!report.partial && !behind); });
  count_combined(report, behind, task);
}

void run_once(const hd_map_spec &spec, TaskRun &task, HostText *text) {
  if (folds(spec)) return run_folding(spec, task, text);
  HostRun host(spec, task, text);
  collect_map(spec, task, [&](Sink &lines) { host.run(lines, lines); });
}

// Whether the program could read the split's text by itself.
bool run_on_file(const hd_map_spec &spec, TaskRun &task) {
  if (!HostText::may_be(spec)) return false;
  HostText text(spec, task);
  if (!text.plain()) return false;
  try {
    run_once(spec, task, &text);
    return true;
  } catch (const WantsPipe &) {  // the combiner has not run: it does where all is there
    task.counters = {};
    return false;
  }
}

}  // namespace

void run_host_records(const hd_map_spec &spec, TaskRun &task, std::string_view text, uint64_t records, Sink &lines) {
  if (folds(spec)) throw Error(kBadInput, "single records are for a host kernel that does not fold");
  leaving_what_fails([&] {
    uint64_t printed = 0;
    ObservedSink output(lines, [&](size_t n) { printed += n; });
    TextInput input(text);
    const HostReport report = Program(spec, task).run(input, nullptr, output);
    check_printed(report, printed);
    if (report.records != records)
      malformed_report("says " + std::to_string(report.records) + " records, and there are " + std::to_string(records));
    lines.finish();
  });
}

void run_host_map(const hd_map_spec &spec, TaskRun &task) {
  leaving_what_fails([&] {
    if (!folds(spec) && (spec.flags & HD_REGROUP))
      throw Error(kBadInput, "a host kernel that does not fold prints no line that may be combined again");
    if (!run_on_file(spec, task)) run_once(spec, task, nullptr);
  });
}

}  // namespace hd
