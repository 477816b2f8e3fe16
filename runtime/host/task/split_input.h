// A map task's split as the stdin of the program that maps it.
#pragma once
#include "input/records.h"
#include "task/map_spec.h"
#include "task/task.h"

namespace hd {

// Keeps the task's progress up to date while it is read. What it refers to must outlive it.
class SplitInput {
 public:
  SplitInput(const hd_map_spec &spec, TaskRun &task)
      : task_(task), records_(records_of(spec), task.cancel), observed_(records_, [this](size_t) { observe(); }),
        peek_(observed_) {}
  SplitInput(const SplitInput &) = delete;
  SplitInput &operator=(const SplitInput &) = delete;

  Source &source() { return peek_; }
  bool empty() { return peek_.empty(); }
  uint64_t records() const { return records_.records(); }  // that were read
  // Adds what was read to the task's counters.
  void count() {
    task_.counters.add(kMapInputRecords, records_.records());
    task_.counters.add(kMapInputBytes, records_.bytes());
  }

 private:
  void observe() {
    task_.progress.bytes_in = records_.bytes();
    task_.progress.records_in = records_.records();
  }

  TaskRun &task_;
  RecordSource records_;
  ObservedSource observed_;
  PeekSource peek_;
};

}  // namespace hd
