// Stacks of lanes and the switch between them. Why assembly: swapcontext makes two system calls, 25 times as slow.
//
// A stack lies at the high end of a slot of 1 MiB that starts at a multiple of 1 MiB; the rest of the slot, more than a
// third of it, cannot be touched. So a lane that needs too much stack faults, also with a large array that jumps over pages;
// and the lane that runs is found from the stack pointer, which is quicker than thread-local storage of a loaded library.
// Where exactly a stack begins depends on the slot: else all would compete for the same few lines of the caches.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__) || !defined(__linux__)
#error "The emulated device needs Linux on x86-64: its switch between lanes is written in assembly."
#endif

#if defined(__SANITIZE_ADDRESS__)
#define HD_EMU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HD_EMU_ASAN 1
#endif
#endif

#ifdef HD_EMU_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

extern "C" {
// Saves what a call must keep on the stack, puts the stack pointer into *save, goes on where `load` was saved.
__attribute__((visibility("hidden"))) void hd_emu_switch_stack(void **save, void *load);
// The second half of it, to be jumped to with the stack pointer set to what was saved (from a signal handler).
__attribute__((visibility("hidden"))) void hd_emu_resume_stack();
}
asm(R"(
    .pushsection .text.hd_emu,"ax",@progbits
    .weak hd_emu_switch_stack
    .hidden hd_emu_switch_stack
    .type hd_emu_switch_stack, @function
hd_emu_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    .weak hd_emu_resume_stack
    .hidden hd_emu_resume_stack
    .type hd_emu_resume_stack, @function
hd_emu_resume_stack:
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size hd_emu_switch_stack, . - hd_emu_switch_stack
    .size hd_emu_resume_stack, . - hd_emu_resume_stack
    .popsection
)");

namespace hd_emu __attribute__((visibility("hidden"))) {

struct Lane;

constexpr size_t slot_bytes = 1u << 20;
constexpr size_t largest_stack = slot_bytes / 2;  // what a GPU gives a thread at most
constexpr size_t smallest_stack = 1u << 15, page_bytes = 4096;
constexpr size_t colours = 256, colour_step = 7 * 64;  // beginnings of stacks

// What lies above a stack.
struct alignas(16) Stack {
    Lane *lane;
    Stack *next;  // in the pool's list of free ones

    uintptr_t high() const { return reinterpret_cast<uintptr_t>(this); }
    uintptr_t low(size_t bytes) const { return (high() - bytes) & ~(page_bytes - 1); }
    uintptr_t slot() const { return high() & ~(slot_bytes - 1); }
};

// The stack of the slot that an address lies in.
inline Stack *stack_at(uintptr_t address) {
    const uintptr_t slot_end = (address | (slot_bytes - 1)) + 1;
    return reinterpret_cast<Stack *>(slot_end - sizeof(Stack) - address / slot_bytes % colours * colour_step);
}

// The lane whose code this is. Constant within a function: a frame never moves to another stack.
inline Lane &current() {
    uintptr_t sp;
    asm("movq %%rsp, %0" : "=r"(sp));
    return *stack_at(sp)->lane;
}

// Something that runs: a lane, or the caller of the launch. `low` and `size` are known to AddressSanitizer only.
struct Context {
    void *sp = nullptr;
    const void *low = nullptr;
    size_t size = 0;
    void *fake = nullptr;
};

inline void announce_switch([[maybe_unused]] Context *from, [[maybe_unused]] const Context &to) {
#ifdef HD_EMU_ASAN
    __sanitizer_start_switch_fiber(from ? &from->fake : nullptr, to.low, to.size);
#endif
}

// `ends`: `from` is never switched to again.
inline void switch_stack(Context &from, Context &to, bool ends) {
    announce_switch(ends ? nullptr : &from, to);
    hd_emu_switch_stack(&from.sp, to.sp);
#ifdef HD_EMU_ASAN
    __sanitizer_finish_switch_fiber(from.fake, nullptr, nullptr);
#endif
}

// Makes `context` begin with a call of `entry` on the stack.
inline void start_on(Context &context, const Stack &stack, size_t bytes, void (*entry)()) {
#ifdef HD_EMU_ASAN
    const uintptr_t low = stack.low(bytes);  // red zones of a lane that ended in the midst of calls, its first frame's too
    __asan_unpoison_memory_region(reinterpret_cast<const void *>(low), stack.high() - low);
#endif
    void **top = reinterpret_cast<void **>(stack.high());
    *--top = nullptr;                          // where `entry` would return to: debuggers stop here
    *--top = reinterpret_cast<void *>(entry);  // popped by the switch's `ret`, which leaves the alignment of a call
    for (int i = 0; i < 6; ++i) *--top = nullptr;
    context = {top, reinterpret_cast<const void *>(stack.low(bytes)), stack.high() - stack.low(bytes), nullptr};
}

// Stacks of one size. Each becomes usable when it is first taken; all go when the pool goes.
class StackPool {
 public:
    explicit StackPool(size_t stack_bytes) : bytes(stack_bytes) {}
    StackPool(const StackPool &) = delete;
    StackPool &operator=(const StackPool &) = delete;
    ~StackPool() {
        for (unsigned i = 0; i < n_chunks_; ++i) ::munmap(chunks_[i], chunk_bytes);
    }

    // nullptr: no memory.
    Stack *take() {
        if (Stack *stack = free_) {
            free_ = stack->next;
            return stack;
        }
        if (left_ == 0 && !add_chunk()) return nullptr;
        Stack *const stack = stack_at(next_slot_);
        const uintptr_t low = stack->low(bytes), end = next_slot_ + slot_bytes;
        if (::mprotect(reinterpret_cast<void *>(low), end - low, PROT_READ | PROT_WRITE)) return nullptr;
        next_slot_ = end;
        --left_;
        return stack;
    }

    void give(Stack *stack) {
        stack->next = free_;
        free_ = stack;
    }

    const size_t bytes;
    alignas(16) char signal_stack[1u << 16];  // for the handler of faults: the lane's own may be at its end

 private:
    static constexpr size_t chunk_slots = 32, chunk_bytes = (chunk_slots + 1) * slot_bytes;

    bool add_chunk() {
        if (n_chunks_ == sizeof(chunks_) / sizeof(chunks_[0])) return false;
        void *memory = ::mmap(nullptr, chunk_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) return false;
        chunks_[n_chunks_++] = memory;
        next_slot_ = (reinterpret_cast<uintptr_t>(memory) + slot_bytes - 1) & ~(slot_bytes - 1);
        left_ = chunk_slots;
        return true;
    }

    Stack *free_ = nullptr;
    uintptr_t next_slot_ = 0;
    size_t left_ = 0;
    unsigned n_chunks_ = 0;
    void *chunks_[1024 / chunk_slots];  // for the largest block
};

// The pool that the launch before has left: page faults and system calls once per module, not once per launch.
struct IdlePool {
    StackPool *pool = nullptr;

    StackPool *take(size_t bytes) {
        StackPool *found = __atomic_exchange_n(&pool, nullptr, __ATOMIC_ACQ_REL);
        if (found && found->bytes == bytes) return found;
        delete found;
        return new StackPool(bytes);
    }
    void give(StackPool *back) { delete __atomic_exchange_n(&pool, back, __ATOMIC_ACQ_REL); }
    ~IdlePool() { delete pool; }
};
inline IdlePool idle_pool;

}  // namespace hd_emu
