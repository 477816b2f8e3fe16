// How a lane gives up: it writes the launch's failure word, unless another lane was first, and ends. Code after it never
// runs, so the lane's output so far is as if it had never been: the host throws the whole launch away.
#pragma once

#include "steps/abi.h"
#include "lane/base.cuh"

namespace hd {

// The lane is over. Other lanes go on: there must be no barrier after code that can get here.
[[noreturn]] HD_DEVICE void end_lane() {
#ifdef __CUDACC__
    asm volatile("exit;");
    __builtin_unreachable();
#else
    hd_emu_exit_lane();
#endif
}

HD_DEVICE void write_failure(Failure *failure, uint32_t item, Status status, uint32_t detail) {
    if (atomicCAS(&failure->status, static_cast<uint32_t>(Status::ok), static_cast<uint32_t>(status)) ==
        static_cast<uint32_t>(Status::ok)) {
        failure->item = item;
        failure->detail = detail;
    }
}

[[noreturn]] HD_NOINLINE void fail(Failure *failure, uint32_t item, Status status, uint32_t detail) {
    write_failure(failure, item, status, detail);  // a call would cost each kernel registers
    end_lane();
}

// Writes the word and goes on.
HD_NOINLINE void note(Failure *failure, uint32_t item, Status status, uint32_t detail) {
    write_failure(failure, item, status, detail);
}

// A word that other lanes write, read without keeping them out. On the emulator an atomic, which lets them run.
template <class T>
HD_DEVICE T peek_word(T *word) {
#ifdef __CUDACC__
    return *static_cast<volatile T *>(word);
#else
    return atomicAdd(word, T(0));
#endif
}

}  // namespace hd
