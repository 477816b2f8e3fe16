// A map task whose map filter and combiner are one program, the host kernel: a split's records go in, the combiner's lines come
// out, in any order. It does the task exactly or not at all: whatever is not as expected throws Error kHostLeft, and filters do it.
#include "task/host_kernel.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <optional>

#include "../../device/steps/abi.h"
#include "collect/combine.h"
#include "filter/pair_splitter.h"
#include "task/failure_text.h"
#include "task/host_text.h"
#include "task/map_spec.h"
#include "task/split_input.h"
#include "task/task.h"

namespace hd {

namespace {

constexpr size_t kMostReport = 4096;

[[noreturn]] void malformed(const std::string &what) { throw Error(kHostLeft, "the host kernel's report " + what); }

// The numbers of a report by name.
class Fields {
 public:
  explicit Fields(std::string_view text) {
    for (; !text.empty(); text.remove_prefix(text.find('\n') + 1)) {
      const size_t end = text.find('\n');
      if (end == text.npos) malformed("ends in the middle of a line");
      take(text.substr(0, end));
    }
  }

  bool has(std::string_view name) const { return find(name).has_value(); }

  uint64_t number(std::string_view name, uint64_t most = UINT64_MAX) const {
    const std::optional<uint64_t> found = find(name);
    if (!found) malformed("says no " + std::string(name));
    if (*found > most) malformed("says " + std::string(name) + " " + std::to_string(*found));
    return *found;
  }

 private:
  static constexpr std::array<std::string_view, 9> kNames = {"records", "pairs", "bytes",  "keys", "partial",
                                                             "longest", "left",  "record", "line"};

  std::optional<uint64_t> find(std::string_view name) const {
    for (size_t i = 0; i < kNames.size(); ++i)
      if (kNames[i] == name) return values_[i];
    return {};
  }

  void take(std::string_view line) {
    const size_t blank = std::min(line.find(' '), line.size());
    const std::string_view digits = line.substr(std::min(blank + 1, line.size()));
    for (size_t i = 0; i < kNames.size(); ++i) {
      if (kNames[i] != line.substr(0, blank)) continue;
      uint64_t value = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (error != std::errc() || end != digits.data() + digits.size() || values_[i]) break;
      values_[i] = value;
      return;
    }
    malformed("has the line " + printable(line));
  }

  std::array<std::optional<uint64_t>, kNames.size()> values_;
};

Fd needed(int fd, const char *what) {
  if (fd < 0) throw Error(kSpawnFailed, std::string("no ") + what + ": " + std::strerror(errno), errno);
  return Fd(fd);
}

// With a place of its own in it: tasks that run at a time read the same file.
Fd opened_again(int fd) {
  return needed(::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDONLY | O_CLOEXEC), "live-ins for a host kernel");
}

std::string text_in(const Fd &file) {
  std::string text(kMostReport, '\0');
  struct stat status{};
  if (::fstat(file.get(), &status) != 0 || status.st_size > static_cast<off_t>(kMostReport)) malformed("is too long");
  const ssize_t n = ::pread(file.get(), text.data(), text.size(), 0);
  if (n < 0) malformed(std::string("cannot be read: ") + std::strerror(errno));
  text.resize(static_cast<size_t>(n));
  return text;
}

class HostRun {
 public:
  // `text`: what the program reads itself; null: it gets the records by a pipe.
  HostRun(const hd_map_spec &spec, TaskRun &task, HostText *text)
      : spec_(spec), task_(task), text_(text), collector_(options(), task.counters, task.cancel),
        report_file_(above_childs(needed(::memfd_create("report", MFD_CLOEXEC), "file for a host kernel's report").get(),
                                  "a host kernel's report")) {
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
    command.data_fd = report_file_.get();
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
    const bool gave_up = end.signal == 0 && end.exit_code == kHostGaveUp;
    if (!end.ok() && !gave_up) throw Error(kHostLeft, "the host kernel failed: " + describe(end));
    const HostReport report = read_report(text_in(report_file_), gave_up);
    if (gave_up)
      throw Error(kHostLeft, describe(Failure{report.left, 0, report.line, 0}, "record " + std::to_string(report.record + 1)));
    if (const uint64_t unread = text_ ? text_->unread() : end.unread)
      throw Error(kHostLeft, "the host kernel left " + std::to_string(unread) + " bytes unread");
    if (spec_.line_max && report.longest > spec_.line_max)
      throw Error(kHostLeft, "the mapper printed a line of more than " + std::to_string(spec_.line_max) + " bytes");
    if (report.partial && !(spec_.flags & HD_REGROUP)) malformed("says that keys are there twice");
    return report;
  }

  void count_input(const HostReport &report) {
    if (piped_) {
      // With a delimiter of the user's own a record may be several lines, and each is a record to the program.
      if (report.records != piped_->records() && spec_.delimiter_len == 0)
        malformed("says " + std::to_string(report.records) + " records, and there are " + std::to_string(piped_->records()));
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
      malformed("says " + std::to_string(report.keys) + " keys, and there are " + std::to_string(lines));
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
  const Fd report_file_;
  Fd live_ins_;
};

// What says nothing of the task, but of the host kernel only.
bool is_its_own(TaskStatus status) {
  return status == kFilterFailed || status == kSpawnFailed || status == kCombinerFailed || status == kCombinerDisorder ||
         status == kOutputLine;
}

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

HostReport read_report(std::string_view text, bool gave_up) {
  const Fields fields(text);
  HostReport report;
  if (fields.has("left") != gave_up) malformed(gave_up ? "has no reason" : "has a reason to give up");
  if (gave_up) {
    report.left = static_cast<uint32_t>(fields.number("left", UINT32_MAX));
    report.record = fields.number("record");
    report.line = static_cast<uint32_t>(fields.number("line", UINT32_MAX));
    return report;
  }
  report.records = fields.number("records");
  report.pairs = fields.number("pairs");
  report.bytes = fields.number("bytes");
  report.keys = fields.number("keys");
  report.partial = fields.number("partial", 1) != 0;
  report.longest = fields.number("longest");
  return report;
}

void run_host_map(const hd_map_spec &spec, TaskRun &task) {
  try {
    if (!run_on_file(spec, task)) HostRun(spec, task, nullptr).run();
  } catch (const Error &e) {
    if (e.status == kTimedOut) throw Error(kHostSilent, e.what());
    if (!is_its_own(e.status)) throw;
    throw Error(kHostLeft, e.what());
  }
}

}  // namespace hd
