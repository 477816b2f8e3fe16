#include "host_kernel/reduce.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/text_output.h"
#include "filter/pair_splitter.h"
#include "host_kernel/report.h"
#include "host_kernel/text.h"

namespace hd {
namespace {

// The segments as the program's standard input says which they are; it moves the file's place to say how far it is.
class SegmentTable final : public Source {
 public:
  SegmentTable(const hd_reduce_spec &spec, TaskRun &task)
      : task_(task), fd_(above_childs(needed_fd(::memfd_create("segments", MFD_CLOEXEC), "file for a host kernel's segments").get(),
                                      "a host kernel's segments")) {
    const std::string text = text_of_all(spec);
    if (::pwrite(fd_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
      throw Error(kSpawnFailed, std::string("cannot tell a host kernel its segments: ") + std::strerror(errno), errno);
  }

  std::string_view next() override { return {}; }
  int file() const override { return fd_.get(); }
  void reached(int64_t place) override { task_.progress.bytes_in = static_cast<uint64_t>(place); }

 private:
  static std::string text_of_all(const hd_reduce_spec &spec) {
    std::vector<uint64_t> head = {spec.n_segments};
    std::string paths;
    const uint64_t before = 8 * (1 + 4 * spec.n_segments);
    for (uint64_t i = 0; i < spec.n_segments; ++i) {
      const hd_segment &one = spec.segments[i];
      head.insert(head.end(), {one.start, one.raw_length, one.part_length, before + paths.size()});
      paths += std::filesystem::absolute(one.data_path).string() + '\0';
    }
    return std::string(reinterpret_cast<const char *>(head.data()), 8 * head.size()) + paths;
  }

  TaskRun &task_;
  const Fd fd_;
};

void reduce(const hd_reduce_spec &spec, TaskRun &task) {
  TextOutput text(spec.out_path);
  SegmentTable segments(spec, task);
  const ReportFile report_file;
  Command command = command_of(spec.host, task);
  command.argv.push_back(std::to_string(spec.threads));
  command.data_fd = report_file.fd();
  PairSplitter lines([&](std::string_view key, std::string_view value) { text.add(key, value); },
                     LineLimit{spec.line_max, "host kernel"}, task.counters, kReduceOutputRecords);
  ObservedSink output(lines, [&](size_t n) {
    task.progress.bytes_out = task.progress.bytes_out + n;
    task.progress.pairs_out = task.counters.value[kReduceOutputRecords];
  });
  task.phase(HD_PHASE_FILTER);
  const FilterEnd end = run_filter(command, segments, output, task.log, task.cancel);
  book_times(task, end.times, task.seconds[HD_STAGE_COMBINE]);
  const HostReport report = report_file.judge(end, [](const HostReport &) { return std::string("a pair of its partition"); });
  lines.finish();
  task.counters.add(kReduceInputRecords, report.records);
  task.counters.add(kReduceInputGroups, report.keys);
  task.progress.records_in = report.records;
  finish_task(task, [&] { text.commit(); });
}

}  // namespace

void run_host_reduce(const hd_reduce_spec &spec, TaskRun &task) {
  leaving_what_fails([&] { reduce(spec, task); });
}

}  // namespace hd
