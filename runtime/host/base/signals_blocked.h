// Threads of the runtime's own.
#pragma once
#include <pthread.h>
#include <signal.h>

namespace hd {

// Threads started in its lifetime get no signals: they are for the threads that the process had before.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked &) = delete;

 private:
  sigset_t before_;
};

}  // namespace hd
