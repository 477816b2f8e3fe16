// What is printed of each group of parts, in their order on standard output whoever is ready first.
#pragma once

#include "reduce/runs.h"

namespace hd {

// Text that grows in memory.
class Printed {
 public:
    template <class Piece> HD_DEVICE void put(const Piece &piece) {
        const size_t n = piece.size();
        if (__builtin_expect(n > text_.room() - used_, 0)) larger(n);
        piece.write(text_.begin() + used_);
        used_ += n;
    }

    uint64_t size() const { return used_; }

    void write() {
        const char *from = text_.begin();
        while (used_) {
            const long written = sys::write(1, from, used_);
            if (written < 0 && sys::again()) continue;
            if (written < 0) broken();
            from += written;
            used_ -= static_cast<uint64_t>(written);
        }
    }

    void free() {
        if (text_.begin()) sys::munmap(text_.begin(), text_.room());
        text_ = {};
    }

 private:
    HD_NOINLINE void larger(size_t n) {
        uint64_t room = text_.room() ? 2 * text_.room() : 1 << 16;
        while (room - used_ < n) room *= 2;
        char *const made = sys::pages(room);
        if (!made) leave(Status::no_room);
        if (used_) __builtin_memcpy(made, text_.begin(), used_);
        free();
        text_.adopt(made, room);
    }

    struct Memory {
        char *data = nullptr;
        uint64_t size = 0;
        char *begin() const { return data; }
        uint64_t room() const { return size; }
        void adopt(char *made, uint64_t n) { data = made, size = n; }
    };
    Memory text_;
    uint64_t used_ = 0;
};

class Texts {
 public:
    explicit Texts(uint64_t groups) : groups_(groups), ready_(reinterpret_cast<Ready *>(sys::pages(groups * sizeof(Ready) + 1))) {
        if (!ready_) leave(Status::no_room);
    }

    // May a group's text go out as it is made?
    bool is_next(uint64_t group) const { return __atomic_load_n(&next_, __ATOMIC_ACQUIRE) == group; }
    // So much waits for groups before it that no more should be made.
    bool is_full() const { return __atomic_load_n(&waiting_, __ATOMIC_RELAXED) > most_waiting; }

    // A group is done, with `text`, which is ours now; then others may be.
    void done(uint64_t group, Printed text) {
        lock();
        if (next_ != group) {
            ready_[group] = {text, true};
            __atomic_fetch_add(&waiting_, text.size(), __ATOMIC_RELAXED);
            return unlock();
        }
        unlock();
        for (;;) {
            text.write();
            text.free();
            lock();
            __atomic_store_n(&next_, next_ + 1, __ATOMIC_RELEASE);
            if (next_ == groups_ || !ready_[next_].is) return unlock();
            text = ready_[next_].text;
            __atomic_fetch_sub(&waiting_, text.size(), __ATOMIC_RELAXED);
            unlock();
        }
    }

 private:
    struct Ready {
        Printed text;
        bool is;
    };
    static constexpr uint64_t most_waiting = uint64_t{256} << 20;

    void lock() {
        while (__atomic_exchange_n(&locked_, true, __ATOMIC_ACQUIRE)) {}
    }
    void unlock() { __atomic_store_n(&locked_, false, __ATOMIC_RELEASE); }

    const uint64_t groups_;
    Ready *const ready_;
    uint64_t next_ = 0, waiting_ = 0;
    bool locked_ = false;
};

}  // namespace hd
