// Faults of kernels: a lane that leaves its stack, touches memory that is not there or divides by zero becomes an error of
// the launch, as on a GPU. Only while this module's kernels run; all other faults go to whom they went before.
//
// The handler runs on a stack of its own and returns into Block::run, as if the lane had switched there.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include "block.h"

namespace hd_emu __attribute__((visibility("hidden"))) {

inline thread_local Block *block_of_thread = nullptr;

constexpr int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE};

// Actions are the process's: installed by the first of the launches that run at the same time, undone by the last.
struct FaultActions {
    int lock = 0;
    unsigned users = 0;
    struct sigaction before[3];
};
inline FaultActions fault_actions;

inline void pass_fault_on(int number, const siginfo_t *info) {
    for (int i = 0; i < 3; ++i)
        if (fault_signals[i] == number) ::sigaction(number, &fault_actions.before[i], nullptr);
    if (info->si_code <= 0) ::raise(number);  // sent by somebody; else the instruction faults again
}

inline void on_fault(int number, siginfo_t *info, void *raw) {
    Block *const block = block_of_thread;
    Lane *const lane = block ? block->running : nullptr;
    const uintptr_t at = reinterpret_cast<uintptr_t>(info->si_addr);
    const bool own = number == SIGSEGV && lane && (at & ~(slot_bytes - 1)) == lane->stack->slot();
#ifdef HD_EMU_ASAN
    const bool known = own;  // of other faults AddressSanitizer tells more
#else
    const bool known = lane != nullptr;
#endif
    if (!known || info->si_code <= 0) return pass_fault_on(number, info);
    if (own)
        block->report(lane, "needs more than %zu bytes of stack", block->pool->bytes);
    else if (number == SIGFPE)
        block->report(lane, "divides an integer by zero, or the smallest one by -1 (a GPU would go on with any result)");
    else
        block->report(lane, "touches memory that is not there or not aligned, at 0x%zx", static_cast<size_t>(at));
    auto *registers = static_cast<ucontext_t *>(raw)->uc_mcontext.gregs;
    registers[REG_RSP] = reinterpret_cast<greg_t>(block->main.sp);
    registers[REG_RIP] = reinterpret_cast<greg_t>(&hd_emu_resume_stack);
    announce_switch(nullptr, block->main);
}

// While it lives, faults of this thread's lanes are caught.
class CatchFaults {
 public:
    explicit CatchFaults(Block &block) {
        stack_t own{};
        own.ss_sp = block.pool->signal_stack;
        own.ss_size = sizeof block.pool->signal_stack;
        ::sigaltstack(&own, &before_);
        block_of_thread = &block;
        change(true);
    }
    CatchFaults(const CatchFaults &) = delete;
    CatchFaults &operator=(const CatchFaults &) = delete;
    ~CatchFaults() {
        change(false);
        block_of_thread = nullptr;
        ::sigaltstack(&before_, nullptr);
    }

 private:
    static void change(bool begins) {
        FaultActions &actions = fault_actions;
        while (__atomic_exchange_n(&actions.lock, 1, __ATOMIC_ACQUIRE)) {}
        if (begins ? actions.users++ == 0 : --actions.users == 0)
            for (int i = 0; i < 3; ++i) begins ? install(i) : restore(i);
        __atomic_store_n(&actions.lock, 0, __ATOMIC_RELEASE);
    }
    static void install(int i) {
        struct sigaction action{};
        action.sa_sigaction = on_fault;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        ::sigaction(fault_signals[i], &action, &fault_actions.before[i]);
    }
    // Not where somebody else has installed an action since: that one passes faults on to us, and we to who was before.
    static void restore(int i) {
        struct sigaction now;
        ::sigaction(fault_signals[i], nullptr, &now);
        if (now.sa_sigaction == on_fault) ::sigaction(fault_signals[i], &fault_actions.before[i], nullptr);
    }

    stack_t before_{};
};

}  // namespace hd_emu
