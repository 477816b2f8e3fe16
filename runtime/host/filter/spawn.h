// Starting a filter: pipes, its own process group, and an environment that owes nothing to ours.
#pragma once
#include <sys/types.h>

#include <string>

#include "filter/process.h"

namespace hd {

// A file descriptor that closes itself.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd &&other) noexcept : fd_(other.release()) {}
  Fd &operator=(Fd &&other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~Fd() { reset(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset(int fd = -1);
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_ = -1;
};

struct Child {
  pid_t pid = -1;    // also its process group
  Fd pidfd;          // readable once it has ended; empty on kernels without pidfd_open
  Fd in, out, err;   // our ends of its stdin (none of a file), stdout, stderr; non-blocking
};

// Starts `command` (argv[0] is a path; PATH is not searched) with exactly its environment, in its working folder.
//
// The child leads a new process group, has default signal dispositions (SIGPIPE included: Python ignores it, and a
// filter like `yes` would never end), an empty signal mask and no descriptors but 0, 1, 2 and, with `data_fd` and `more_fd`, 3
// and 4. It is killed when the thread that started it ends (PR_SET_PDEATHSIG counts threads, not processes): call this from
// threads that live as long as their tasks. Its own children are not: they end by SIGPIPE or with their group.
//
// Where processes, memory or descriptors are short it tries again for about a second.
//
// `in`: a file that is its stdin, and stays ours, above 4; -1: a pipe.
//
// Throws Error kSpawnFailed with the errno of the step that failed (ENOENT, EACCES, E2BIG, ...).
Child spawn(const Command &command, int in = -1);

}  // namespace hd
