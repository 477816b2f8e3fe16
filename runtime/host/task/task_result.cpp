#include "task/task_result.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "base/clock.h"

namespace hd {
namespace {

void set_message(hd_result &result, const char *text) {
  const size_t n = std::min(std::strlen(text), sizeof result.message - 1);
  std::memcpy(result.message, text, n);
  result.message[n] = 0;
}

// A C string of our own; NUL bytes that a filter printed become '?'. NULL when there is no memory.
char *copy_of(std::string text) {
  std::replace(text.begin(), text.end(), '\0', '?');
  return ::strdup(text.c_str());
}

void fill(hd_result &result, TaskRun &task, double wall, double cpu) {
  task.log.close();
  task.seconds[HD_STAGE_TASK_CPU] = seconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu;
  task.seconds[HD_STAGE_TOTAL] = now() - wall;
  std::copy_n(task.counters.value, HD_N_COUNTERS, result.counters);
  std::copy_n(task.seconds, HD_N_STAGES, result.seconds);
  result.user_counters = copy_of(task.log.counters());
  result.status_text = copy_of(task.log.status());
  result.stderr_tail = copy_of(task.log.tail());
  task.phase(HD_PHASE_END);
}

}  // namespace

int32_t guarded(hd_result &result, const std::function<void()> &body) noexcept {
  try {
    body();
  } catch (const Error &e) {
    result.status = e.status;
    result.error_number = e.error_number;
    result.exit_code = e.exit_code;
    result.signal = e.signal;
    result.input_read = e.input_read;
    result.bad_record = e.record;
    set_message(result, e.what());
  } catch (const std::bad_alloc &) {
    result.status = kInternal;
    set_message(result, "out of memory");
  } catch (const std::exception &e) {
    result.status = kInternal;
    set_message(result, e.what());
  } catch (...) {
    result.status = kInternal;
    set_message(result, "unknown C++ exception");
  }
  return result.status;
}

void clear(hd_result &result) {
  result = hd_result{};
  result.exit_code = -1;
}

int32_t run_reported(const TaskSetup &setup, hd_progress *progress, hd_result &result,
                     const std::function<void(TaskRun &)> &body) noexcept {
  clear(result);
  const double wall = now(), cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  return guarded(result, [&] {
    hd_progress unseen{};
    hd_progress &seen = progress ? *progress : unseen;
    const char *prefix = setup.reporter_prefix && *setup.reporter_prefix ? setup.reporter_prefix : "reporter:";
    const char *const log = setup.log_path ? setup.log_path : "";
    TaskRun task{StderrLog(log, prefix), {&seen.cancel}, seen, setup.linger_ms, setup.timeout_ms, setup.flags, {}, {}};
    guarded(result, [&] { body(task); });
    fill(result, task, wall, cpu);
  });
}

}  // namespace hd
