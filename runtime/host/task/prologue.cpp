// A mapper's prologue: the program that runs main() up to the region and writes what the kernel needs to descriptor 3.
#include <fcntl.h>

#include <cstring>

#include "task/task.h"

namespace hd {

namespace {

struct NoInput : Source {
  std::string_view next() override { return {}; }
};

// Whatever reaches stdout is text that the filter would have written before its first record.
struct CountingSink : Sink {
  uint64_t bytes = 0;
  void write(const char *, size_t n) override { bytes += n; }
  void finish() override {}
};

// The child overwrites 0, 1, 2 before it takes the data's descriptor.
Fd above_stdio(int fd) {
  Fd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!copy) throw Error(kSpawnFailed, std::string("no descriptor for the prologue's data: ") + std::strerror(errno), errno);
  return copy;
}

}  // namespace

void run_prologue(const hd_prologue_spec &spec, TaskRun &task) {
  Command command = command_of(spec.prologue, task);
  if (!command) throw Error(kBadInput, "a prologue needs a command");
  const Fd data = above_stdio(spec.data_fd);
  command.data_fd = data.get();
  NoInput input;
  CountingSink output;
  run_main_filter("prologue", command, input, output, task);
  if (output.bytes)
    throw Error(kBadInput, "the code before the region wrote " + std::to_string(output.bytes) + " bytes to stdout");
  if (task.log.bytes() || !task.log.counters().empty() || !task.log.status().empty())
    throw Error(kBadInput, "the code before the region wrote to stderr");
}

}  // namespace hd
