#include "gpu/collected_run.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace hd {

// In a folder of its own: its spills would have the names of the task's.
CollectedRun::CollectedRun(const CollectorOptions &options, bool combined, TaskRun &task)
    : options_(options), combined_(combined), task_(task) {
  options_.work_dir += "/behind";
  options_.out_path = options_.work_dir + "/run.out";
  options_.index_path = options_.out_path + ".index";
  if (!combined) options_.combine = {};
}

CollectedRun::~CollectedRun() {
  collector_.reset();
  ::unlink(options_.out_path.c_str());
  ::unlink(options_.index_path.c_str());
  ::rmdir(options_.work_dir.c_str());
}

void CollectedRun::add(std::string_view key, std::string_view value) {
  if (!collector_) {
    if (::mkdir(options_.work_dir.c_str(), 0700) != 0 && errno != EEXIST)
      throw Error(kIoError, "cannot make the folder " + options_.work_dir, errno);
    collector_.emplace(options_, counters_, task_.cancel);
  }
  collector_->add(key, value);
}

void CollectedRun::finish(RunWriter &runs) {
  if (!collector_) return;
  collector_->finish();
  if (combined_ && counters_.value[kUnreadablePairs])
    throw Error(kRetryNoFold, "a pair does not read back through the combiner's reader");
  const std::string path = runs.next();
  for (const auto &[from, to] : {std::pair{options_.out_path, path}, std::pair{options_.index_path, path + ".index"}})
    if (::rename(from.c_str(), to.c_str()) != 0) throw Error(kIoError, "cannot rename " + from + " to " + to, errno);
  runs.adopt(path, combined_);
  for (const Counter counter : {kSpills, kSpilledRecords, kUnreadablePairs, kCombineInputRecords, kCombineOutputRecords,
                                kCombineUnreadBytes})
    task_.counters.add(counter, counters_.value[counter]);
  task_.counters.add(kSpills);
}

}  // namespace hd
