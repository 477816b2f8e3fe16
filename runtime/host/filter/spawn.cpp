#include "filter/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

// The child shares our memory and runs on a stack of its own until it has called execve.
#define HD_CHILD_CODE __attribute__((no_sanitize("address", "undefined", "thread")))

namespace hd {

namespace {

constexpr size_t kPipeBytes = 1 << 20;
constexpr size_t kChildStack = 64 << 10;
constexpr long kFirstWaitMs = 10, kLastWaitMs = 640;  // 1.3 s in all

enum Step : int { kNone, kChdir, kExec, kDescriptors };

// What the child needs; no allocation may happen there.
struct Start {
  const char *path, *cwd;
  char *const *argv, *const *env;
  int in, out, err, data, more;
  pid_t parent;
  long open_max;
  Step failed = kNone;
  int error = 0;
};

std::vector<char *> pointers(const std::vector<std::string> &strings) {
  std::vector<char *> list;
  for (const std::string &s : strings) list.push_back(const_cast<char *>(s.c_str()));
  list.push_back(nullptr);
  return list;
}

HD_CHILD_CODE void reset_signals() {
  struct sigaction plain;
  plain.sa_handler = SIG_DFL;
  plain.sa_flags = 0;
  sigemptyset(&plain.sa_mask);
  for (int signal = 1; signal <= SIGRTMAX; ++signal) sigaction(signal, &plain, nullptr);  // KILL, STOP: refused, fine
  sigprocmask(SIG_SETMASK, &plain.sa_mask, nullptr);
}

HD_CHILD_CODE void close_others(int first, long open_max) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, static_cast<unsigned>(first), ~0u, 0u) == 0) return;
#endif
  for (long fd = first; fd < open_max; ++fd) close(static_cast<int>(fd));
}

HD_CHILD_CODE void fail(Start *start, Step step) {
  start->failed = step;
  start->error = errno;
  _exit(127);
}

// Where a descriptor has its number already, dup2 would leave it to be closed at exec.
HD_CHILD_CODE bool place(int fd, int number) {
  return fd == number ? fcntl(number, F_SETFD, 0) == 0 : dup2(fd, number) >= 0;
}

// Returns the first descriptor behind those that are the child's.
HD_CHILD_CODE int place_data(Start *start) {
  if (start->data < 0) return 3;
  if (!place(start->data, 3)) fail(start, kDescriptors);
  if (start->more < 0) return 4;
  if (!place(start->more, 4)) fail(start, kDescriptors);
  return 5;
}

HD_CHILD_CODE int child_main(void *argument) {
  Start *start = static_cast<Start *>(argument);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != start->parent) _exit(127);  // the parent died before the line above: nobody will read this
  if (dup2(start->in, 0) < 0 || dup2(start->out, 1) < 0 || dup2(start->err, 2) < 0) fail(start, kDescriptors);
  close_others(place_data(start), start->open_max);
  reset_signals();
  if (*start->cwd && chdir(start->cwd) != 0) fail(start, kChdir);
  execve(start->path, start->argv, start->env);
  fail(start, kExec);
  return 127;
}

// All signals stay blocked while the child runs on our memory: none of our handlers may run there.
class BlockSignals {
 public:
  BlockSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

class ChildStack {
 public:
  ChildStack() {
    base_ = ::mmap(nullptr, kChildStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (base_ == MAP_FAILED) throw Error(kSpawnFailed, "no memory for a process", errno);
  }
  ~ChildStack() { ::munmap(base_, kChildStack); }
  void *top() const { return static_cast<char *>(base_) + kChildStack; }

 private:
  void *base_;
};

// Keeps a descriptor clear of 0, 1, 2, which the child overwrites.
Fd above_stdio(int fd) {
  Fd given(fd);
  if (fd > 2) return given;
  Fd moved(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!moved) throw Error(kSpawnFailed, "no descriptor for a pipe", errno);
  return moved;
}

struct Pipe {
  Fd read, write;
};

Pipe make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0)
    throw Error(kSpawnFailed, std::string("cannot make a pipe: ") + std::strerror(errno), errno);
  Pipe pipe;
  Fd second(fds[1]);
  pipe.read = above_stdio(fds[0]);
  pipe.write = above_stdio(second.release());
  return pipe;
}

Fd our_end(Fd end, bool enlarge) {
  ::fcntl(end.get(), F_SETFL, ::fcntl(end.get(), F_GETFL) | O_NONBLOCK);
  if (enlarge) ::fcntl(end.get(), F_SETPIPE_SZ, kPipeBytes);  // a user over his pipe quota keeps the small one
  return end;
}

[[noreturn]] void report(const Command &command, const Start &start) {
  const std::string reason = std::strerror(start.error);
  if (start.failed == kChdir)
    throw Error(kSpawnFailed, "cannot start " + command.argv[0] + " in " + command.cwd + ": " + reason, start.error);
  std::string message = "cannot start " + command.argv[0] + ": " + reason;
  if (start.error == E2BIG) {
    size_t bytes = 0;
    for (const std::string &s : command.env) bytes += s.size() + 1;
    message += " (its environment, which holds the job's settings, is " + std::to_string(bytes) + " bytes)";
  }
  throw Error(kSpawnFailed, message, start.error);
}

}  // namespace

void Fd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

namespace {

Child spawn_now(const Command &command, int file) {
  Pipe in = file < 0 ? make_pipe() : Pipe{}, out = make_pipe(), err = make_pipe();
  const std::vector<char *> argv = pointers(command.argv), env = pointers(command.env);
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  Start start{argv[0], command.cwd.c_str(), argv.data(), env.data(), file < 0 ? in.read.get() : file, out.write.get(), err.write.get(),
              command.data_fd, command.more_fd, ::getpid(), static_cast<long>(std::min<rlim_t>(limit.rlim_cur, 1 << 16))};
  ChildStack stack;
  Child child;
  int clone_error;
  {
    BlockSignals blocked;
    child.pid = ::clone(child_main, stack.top(), CLONE_VM | CLONE_VFORK | SIGCHLD, &start);
    clone_error = errno;
  }
  if (child.pid < 0)
    throw Error(kSpawnFailed, std::string("cannot make a process: ") + std::strerror(clone_error), clone_error);
  if (start.failed != kNone) {
    while (::waitpid(child.pid, nullptr, 0) < 0 && errno == EINTR) continue;
    report(command, start);
  }
#ifdef SYS_pidfd_open
  child.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0)));
#endif
  if (file < 0) child.in = our_end(std::move(in.write), true);
  child.out = our_end(std::move(out.read), true);
  child.err = our_end(std::move(err.read), false);
  return child;
}

// What the system lacks at the moment, and may have in the next: processes, memory, descriptors; or the program is just
// being written by somebody who forked meanwhile.
bool passes(int error) {
  return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE || error == ETXTBSY;
}

}  // namespace

Child spawn(const Command &command, int in) {
  for (long wait_ms = kFirstWaitMs;; wait_ms *= 2) {
    try {
      return spawn_now(command, in);
    } catch (const Error &error) {
      if (!passes(error.error_number) || wait_ms > kLastWaitMs) throw;
    }
    const timespec time{wait_ms / 1000, wait_ms % 1000 * 1000000};
    ::nanosleep(&time, nullptr);
  }
}

}  // namespace hd
