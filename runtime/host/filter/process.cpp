#include "filter/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/clock.h"
#include "filter/memory.h"
#include "filter/spawn.h"
#include "filter/stderr_log.h"

namespace hd {

namespace {

constexpr size_t kBuffer = 256 << 10;
constexpr int kPollMs = 50;       // the cancel flag is looked at twenty times a second
constexpr int kReapPollMs = 5;    // without a pidfd, when only the filter's end is awaited
constexpr double kShortLinger = 0.2;
constexpr double kMemorySeconds = 0.1;
// A filter reads and writes some KiB at a time, and each time poll would wake us. We sleep a moment first, so that
// several hundred KiB move per wake-up; never so long that a filter of 2 GB/s would run dry.
constexpr long kMinNapUs = 50, kMaxNapUs = 2000, kNapUsStderr = 500;
constexpr long kDrainUs = 20;
constexpr size_t kNapPipe = 256 << 10;  // smaller pipes (quota used up) are served at once

// Adds the time until its end to `total`.
class Timed {
 public:
  explicit Timed(double &total) : total_(total), begin_(now()) {}
  ~Timed() { total_ += now() - begin_; }

 private:
  double &total_, begin_;
};

// Writing into a pipe nobody reads must give EPIPE, whatever the host program does with SIGPIPE.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoSigpipe() {
    const timespec none{};
    if (!was_pending_)
      while (sigtimedwait(&pipe_, nullptr, &none) < 0 && errno == EINTR) continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
};

// Nobody has closed the pipe: what it holds would be lost without a word.
[[noreturn]] void pipe_failed(const char *verb) {
  const int number = errno;
  throw Error(kIoError, std::string("cannot ") + verb + " the filter's pipe: " + std::strerror(number), number);
}

class FilterRun {
 public:
  FilterRun(const Command &command, Source &in, Sink &out, StderrLog &err, const Cancel &cancel)
      : command_(command), source_(in), sink_(out), log_(err), cancel_(cancel), child_(spawn(command, in.file())) {
    napping_ = ::fcntl(child_.in.get(), F_GETPIPE_SZ) >= static_cast<int>(kNapPipe) &&
               ::fcntl(child_.out.get(), F_GETPIPE_SZ) >= static_cast<int>(kNapPipe);
  }
  ~FilterRun() { kill_and_reap(); }
  FilterRun(const FilterRun &) = delete;
  FilterRun &operator=(const FilterRun &) = delete;

  FilterEnd run();

 private:
  void serve();
  void feed();
  void end_input();
  void input_refused();
  bool drained() const;
  ssize_t put();
  void take_output();
  void take_errors();
  ssize_t read_pipe(Fd &fd);
  void await();
  void nap();
  void look_for_end();
  bool over();
  bool file_moved();
  void check_silence();
  void check_memory();
  void kill_and_reap();
  void drain_source();

  const Command &command_;
  Source &source_;
  Sink &sink_;
  StderrLog &log_;
  const Cancel &cancel_;
  NoSigpipe no_sigpipe_;
  std::unique_ptr<char[]> buffer_{new char[kBuffer]};
  Child child_;  // last of what can fail to be made: from here on the destructor ends it
  FilterEnd end_;
  std::string_view piece_;   // what the source gave and the pipe has not taken yet
  FileBytes origin_;         // and where it lies in a file
  Fd probe_;                 // read end of the filter's stdin, once we have closed the write end
  bool alone_ = false;       // the source gives more only when the pipe is empty
  uint64_t given_ = 0;       // bytes that the source has given
  bool source_ended_ = false, exited_ = false, reaped_ = false, napping_ = false;
  size_t moved_ = 0, moved_errors_ = 0;  // bytes of the current round
  long nap_us_ = kMinNapUs;
  double quiet_since_ = 0;   // the last time something happened after the filter's end
  int64_t place_ = -1;       // of the filter in a file that it reads itself
  double memory_due_ = 0;    // when its memory is looked at next
  double silent_ = 0;        // seconds that we waited for it since the last byte
};

FilterEnd FilterRun::run() {
  serve();
  log_.end_of_stream();
  if (probe_ || child_.in) {
    int left = 0;
    ::ioctl(probe_ ? probe_.get() : child_.in.get(), FIONREAD, &left);
    end_.unread += static_cast<uint64_t>(left) + piece_.size();
  }
  end_.read = given_ - std::min(given_, end_.unread);
  kill_and_reap();
  if (end_.ok()) drain_source();
  return end_;
}

void FilterRun::serve() {
  for (;;) {
    cancel_.check();
    moved_ = moved_errors_ = 0;
    feed();
    take_output();
    take_errors();
    if (over()) return;  // before any waiting: what has just been closed wakes nobody
    check_silence();
    check_memory();
    if (moved_ + moved_errors_ == 0) await();
    else if (napping_ && !alone_ && moved_ < kBuffer) nap();
    if (!exited_ && !child_.pidfd) look_for_end();
  }
}

// Fills the stdin pipe.
void FilterRun::feed() {
  while (child_.in) {
    if (piece_.empty()) {
      if (alone_ && !drained()) return;
      Timed timed(end_.times.read);
      piece_ = source_.next();
      origin_ = source_.origin();
      alone_ = source_.alone();
      given_ += piece_.size();
    }
    if (piece_.empty()) return end_input();
    Timed timed(end_.times.feed);
    const ssize_t n = put();
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0 && errno == EPIPE) return input_refused();
    if (n < 0) pipe_failed("write to");
    moved_ += n;
    const bool full = static_cast<size_t>(n) < piece_.size();
    piece_.remove_prefix(n);
    if (full || moved_ >= 4 * kBuffer) return;  // the filter may wait for us to read its output
  }
}

// The filter has read all that we have put into its pipe.
bool FilterRun::drained() const {
  int left = 0;
  return ::ioctl(child_.in.get(), FIONREAD, &left) != 0 || left == 0;
}

// Puts what fits of the piece into the pipe: the file's pages where they can be had, else a copy. As write(2).
ssize_t FilterRun::put() {
  if (origin_.fd >= 0) {
    const ssize_t n = ::splice(origin_.fd, &origin_.offset, child_.in.get(), nullptr, piece_.size(), SPLICE_F_NONBLOCK);
    if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR || errno == EPIPE))) return n;
    origin_ = {};  // a file system without splice, a file that is shorter now or cannot be read: we still have the bytes
  }
  return ::write(child_.in.get(), piece_.data(), piece_.size());
}

// All input is in the pipe. What the filter leaves there can be counted only at a read end of our own; one made any
// earlier would have kept us from noticing that nobody reads.
void FilterRun::end_input() {
  source_ended_ = true;
  probe_.reset(::open(("/proc/self/fd/" + std::to_string(child_.in.get())).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  child_.in.reset();
}

// Every reader of the pipe has gone.
void FilterRun::input_refused() {
  int left = 0;
  ::ioctl(child_.in.get(), FIONREAD, &left);
  end_.unread += static_cast<uint64_t>(left) + piece_.size();
  piece_ = {};
  child_.in.reset();
}

ssize_t FilterRun::read_pipe(Fd &fd) {
  Timed timed(end_.times.feed);
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer_.get(), kBuffer);
    if (n > 0) return n;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN) pipe_failed("read from");
    if (n == 0) fd.reset();
    return 0;
  }
}

void FilterRun::take_output() {
  for (ssize_t n; child_.out && (n = read_pipe(child_.out)) > 0;) {
    {
      Timed timed(end_.times.sink);
      sink_.write(buffer_.get(), n);
    }
    moved_ += n;
    if (moved_ >= 4 * kBuffer) return;
  }
}

void FilterRun::take_errors() {
  for (ssize_t n; child_.err && (n = read_pipe(child_.err)) > 0;) {
    log_.write(buffer_.get(), n);
    moved_errors_ += n;
    if (moved_errors_ >= 4 * kBuffer) return;
  }
}

// Waits until something can be done. poll reports POLLERR on the stdin pipe when nobody reads it any more.
void FilterRun::await() {
  Timed timed(end_.times.wait), silent(silent_);
  pollfd fds[4] = {{child_.in.get(), POLLOUT, 0},
                   {child_.out.get(), POLLIN, 0},
                   {child_.err.get(), POLLIN, 0},
                   {exited_ ? -1 : child_.pidfd.get(), POLLIN, 0}};
  const bool only_end = !child_.in && !child_.out && !child_.err && !child_.pidfd;
  if (alone_ && child_.in && piece_.empty()) {  // nothing tells that a pipe has been emptied
    fds[0].events = 0;
    const timespec moment{0, kDrainUs * 1000};
    ::ppoll(fds, 4, &moment, nullptr);
  } else {
    ::poll(fds, 4, only_end ? kReapPollMs : kPollMs);
  }
  if (fds[0].revents & POLLERR) input_refused();
  if (fds[3].revents) look_for_end();
}

// Lets the filter work through a good part of its pipes; its end, and the end of its stdout, cut this short.
void FilterRun::nap() {
  Timed timed(end_.times.wait);
  nap_us_ = moved_ < kBuffer / 2 ? std::min(nap_us_ * 2, kMaxNapUs) : std::max(nap_us_ / 2, kMinNapUs);
  const timespec time{0, (moved_errors_ ? std::min(nap_us_, kNapUsStderr) : nap_us_) * 1000};
  pollfd fds[2] = {{child_.out.get(), 0, 0}, {exited_ ? -1 : child_.pidfd.get(), POLLIN, 0}};
  ::ppoll(fds, 2, &time, nullptr);
  if (fds[1].revents) look_for_end();
}

// Notices the filter's end but leaves the zombie: it keeps the process group's number ours until we have killed it.
void FilterRun::look_for_end() {
  siginfo_t info{};
  if (exited_) return;
  if (::waitid(P_PID, child_.pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno != EINTR)
    throw Error(kInternal, "the exit status of " + command_.argv[0] +
                               " is lost: this process ignores SIGCHLD, or reaps children that are not its own", errno);
  if (info.si_pid == 0) return;
  exited_ = true;
  quiet_since_ = now();
  if (info.si_code == CLD_EXITED) {
    end_.exit_code = info.si_status;
  } else {
    end_.exit_code = -1;
    end_.signal = info.si_status;
  }
}

// It has read some of its file since the last call.
bool FilterRun::file_moved() {
  const int64_t place = source_.file() >= 0 ? ::lseek(source_.file(), 0, SEEK_CUR) : -1;
  if (place == place_) return false;
  place_ = place;
  source_.reached(place);
  return true;
}

void FilterRun::check_silence() {
  if (file_moved() || moved_ + moved_errors_ > 0) silent_ = 0;
  if (exited_ || command_.timeout_ms == 0 || silent_ * 1000 < command_.timeout_ms) return;
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%g", command_.timeout_ms / 1000.0);
  throw Error(kTimedOut, command_.argv[0] + " made no progress for " + seconds +
                             " s: it read nothing and wrote nothing, no status and no counter either");
}

void FilterRun::check_memory() {
  if (exited_ || command_.memory == 0 || now() < memory_due_) return;
  memory_due_ = now() + kMemorySeconds;
  const uint64_t used = memory_of_tree(child_.pid);
  if (used <= command_.memory) return;
  throw Error(kMemory, command_.argv[0] + ", with what it started, used " + std::to_string(used >> 20) +
                           " MiB of memory, and may use " + std::to_string(command_.memory >> 20) + " MiB");
}

bool FilterRun::over() {
  if (!exited_) return false;
  if (!child_.out && !child_.err) return true;
  if (moved_ + moved_errors_ > 0) quiet_since_ = now();
  const double quiet = now() - quiet_since_;
  if (!child_.out || !end_.ok()) return quiet >= kShortLinger;
  if (quiet * 1000 < command_.linger_ms) return false;
  throw Error(kFilterFailed, command_.argv[0] + " has ended, but a process that it started keeps its standard output open"
                                                " and has written nothing for " + std::to_string(command_.linger_ms) +
                                 " ms: its output may be incomplete");
}

void FilterRun::kill_and_reap() {
  if (reaped_) return;
  reaped_ = true;
  ::kill(-child_.pid, SIGKILL);
  rusage usage{};
  while (::wait4(child_.pid, nullptr, 0, &usage) < 0 && errno == EINTR) continue;
  while (::waitpid(-child_.pid, nullptr, WNOHANG) > 0) continue;  // its own children, where they are ours now (subreaper)
  const auto seconds = [](const timeval &t) { return double(t.tv_sec) + double(t.tv_usec) * 1e-6; };
  end_.times.cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void FilterRun::drain_source() {
  Timed timed(end_.times.read);
  while (!source_ended_) {
    cancel_.check();
    const std::string_view rest = source_.next();
    end_.unread += rest.size();
    source_ended_ = rest.empty();
  }
}

}  // namespace

FilterEnd run_filter(const Command &command, Source &in, Sink &out, StderrLog &err, const Cancel &cancel) {
  return FilterRun(command, in, out, err, cancel).run();
}

std::string describe(const FilterEnd &end) {
  if (end.signal == 0) return "exit status " + std::to_string(end.exit_code);
  const char *name = ::strsignal(end.signal);
  return "signal " + std::to_string(end.signal) + " (" + (name ? name : "unknown") + ")";
}

}  // namespace hd
