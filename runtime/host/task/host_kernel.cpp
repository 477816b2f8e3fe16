// A map task whose map filter and combiner are one program, the host kernel: a split's records go in, the combiner's lines come
// out, in any order. It does the task exactly or not at all: whatever is not as expected throws Error kHostLeft, and filters do it.
#include "task/host_kernel.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <optional>

#include "collect/combine.h"
#include "filter/pair_splitter.h"
#include "task/host_text.h"
#include "task/map_spec.h"
#include "task/split_input.h"
#include "task/task.h"

namespace hd {

namespace {

// With a place of its own in it: tasks that run at a time read the same file.
Fd opened_again(int fd) {
  return needed_fd(::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDONLY | O_CLOEXEC), "live-ins for a host kernel");
}

class HostRun {
 public:
  // `text`: what the program reads itself; null: it gets the records by a pipe.
  HostRun(const hd_map_spec &spec, TaskRun &task, HostText *text)
      : spec_(spec), task_(task), text_(text), collector_(options(), task.counters, task.cancel) {
    if (!text) piped_.emplace(spec, task);
    if (spec.live_ins_fd >= 0) live_ins_ = above_childs(opened_again(spec.live_ins_fd).get(), "a host kernel's live-ins");
  }

  // False: it has to get its records by a pipe.
  bool run() {
    const bool empty = piped_ && piped_->empty();
    PairSplitter lines([&](std::string_view key, std::string_view value) { collector_.add(key, value); },
                       LineLimit{spec_.line_max, "host kernel"}, printed_, kMapOutputRecords);
    NullSink nothing;
    const std::optional<HostReport> report = map(empty ? static_cast<Sink &>(nothing) : lines);
    if (!report) return false;
    count_input(*report);
    if (!empty) {
      lines.finish();
      count(*report);
    }
    finish_task(task_, [&] { collector_.finish(!report->partial); });
    return true;
  }

 private:
  // Its lines are what the combiner prints, or would combine once more: neither is checked, nor combined before the end.
  CollectorOptions options() {
    if (text_of(spec_.out_path).empty() || !spec_.combine.argv || !spec_.reducers)
      throw Error(kBadInput, "a host kernel needs an output path, a combiner and reducers");
    CollectorOptions options = collector_of(spec_, task_);
    options.regroup = false;
    options.check = {};
    return options;
  }

  std::optional<HostReport> map(Sink &sink) {
    Command command = command_of(spec_.host, task_);
    if (text_) command.argv.push_back(std::to_string(text_->size()));
    command.data_fd = report_file_.fd();
    command.more_fd = live_ins_.get();
    ObservedSink output(sink, [&](size_t n) { task_.progress.bytes_out = task_.progress.bytes_out + n; });
    task_.phase(HD_PHASE_FILTER);
    Source &source = text_ ? static_cast<Source &>(*text_) : piped_->source();
    const FilterEnd end = run_filter(command, source, output, task_.log, task_.cancel);
    book_times(task_, end.times, task_.seconds[HD_STAGE_COMBINE]);
    if (text_ && end.signal == 0 && end.exit_code == kHostWantsPipe) return {};
    return judge(end);
  }

  HostReport judge(const FilterEnd &end) const {
    const HostReport report = report_file_.judge(end, [](const HostReport &left) { return "record " + std::to_string(left.record + 1); });
    if (const uint64_t unread = text_ ? text_->unread() : end.unread)
      throw Error(kHostLeft, "the host kernel left " + std::to_string(unread) + " bytes unread");
    if (spec_.line_max && report.longest > spec_.line_max)
      throw Error(kHostLeft, "the mapper printed a line of more than " + std::to_string(spec_.line_max) + " bytes");
    if (report.partial && !(spec_.flags & HD_REGROUP)) malformed_report("says that keys are there twice");
    return report;
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

  void count(const HostReport &report) {
    const uint64_t lines = printed_.value[kMapOutputRecords];
    if (lines != report.keys)
      malformed_report("says " + std::to_string(report.keys) + " keys, and there are " + std::to_string(lines));
    task_.counters.add(kMapOutputRecords, report.pairs);
    task_.counters.add(kMapOutputBytes, report.bytes);
    task_.counters.add(kCombineInputRecords, report.pairs);
    task_.counters.add(kCombineOutputRecords, report.keys);
    task_.progress.pairs_out = report.pairs;
  }

  const hd_map_spec &spec_;
  TaskRun &task_;
  HostText *const text_;
  std::optional<SplitInput> piped_;
  Collector collector_;
  Counters printed_;
  const ReportFile report_file_;
  Fd live_ins_;
};

// Whether the program could read the split's text by itself.
bool run_on_file(const hd_map_spec &spec, TaskRun &task) {
  if (!HostText::may_be(spec)) return false;
  HostText text(spec, task);
  if (!text.plain()) return false;
  if (HostRun(spec, task, &text).run()) return true;
  task.counters = {};
  return false;
}

}  // namespace

void run_host_map(const hd_map_spec &spec, TaskRun &task) {
  leaving_what_fails([&] {
    if (!run_on_file(spec, task)) HostRun(spec, task, nullptr).run();
  });
}

}  // namespace hd
