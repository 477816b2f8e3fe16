// Threads that do a thing at a time.
#pragma once

#include "leave.h"

namespace hd {

namespace sys {
extern "C" {
int pthread_create(unsigned long *made, const void *attributes, void *(*run)(void *), void *with);
int pthread_join(unsigned long thread, void **result);
int usleep(unsigned microseconds);
}
}  // namespace sys

// Calls work() in `threads` threads, this one among them, and waits for all. One that cannot be had is done without.
template <class Work> void together(unsigned threads, Work &work) {
    constexpr unsigned most = 256;
    unsigned long made[most];
    unsigned n = 0;
    const auto run = [](void *with) -> void * {
        (*static_cast<Work *>(with))();
        return nullptr;
    };
    while (n + 1 < threads && n < most && sys::pthread_create(&made[n], nullptr, run, &work) == 0) ++n;
    work();
    while (n) sys::pthread_join(made[--n], nullptr);
}

}  // namespace hd
