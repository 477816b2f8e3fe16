// The records of standard input, where they lie in one large buffer. Each has a '\n' and, while it is open, a '\0' behind it:
// there lies the first byte of the next one, which is put back when that is opened.
//
// Around the buffer there is memory of nobody's, wider than what Reader::in_text takes for the line's.
#pragma once

#include "leave.h"
#include "libc/lines.h"
#include "libc/string_loops.cuh"

namespace hd {

constexpr uint64_t text_margin = 1 << 16;  // bytes around the records where a pointer is taken for the line's

class Input {
 public:
    // Standard input is a file, of which the next `size` bytes, a number's digits, are the records; null: it is a pipe, to its end.
    void take(const char *size) {
        if (!size) return;
        itself_ = true;
        for (; *size >= '0' && *size <= '9'; ++size) left_ = 10 * left_ + static_cast<uint64_t>(*size - '0');
    }

    char *begin = nullptr, *stop = nullptr;  // the open record, its '\n' included; its '\0' is at `stop`

    // Opens the next record; false at the end of the input.
    HD_DEVICE bool next() {
        // The end is looked for before the first byte is put back: a vector that holds a byte just written is waited for.
        char *const from = stop, *const found = saved_ == '\n' ? from : line_end(from + 1);
        if (__builtin_expect(found == nullptr, 0)) return next_after_reading();
        *from = saved_;
        open(from, found + 1);
        return true;
    }

    // Opens a record as `next` does, but none that is known not to hold `text`; these are counted in `passed`. Where such are
    // few it opens every one, as it does for the rest of an input that holds a NUL.
    HD_DEVICE bool next_holding(const char *text, uint64_t &passed) {
        if (__builtin_expect(stop == nullptr, 0)) look_for_nul_ = true;
        if (stop && worth_passing_) pass(text, passed);
        return next();
    }

    // The memory in which records lie.
    uint64_t first() const { return reinterpret_cast<uint64_t>(buffer_); }
    uint64_t last() const { return reinterpret_cast<uint64_t>(buffer_) + size_; }

 private:
    static constexpr size_t first_size = 1 << 20, most_size = size_t{1} << 32;
    static constexpr size_t margin = 2 * text_margin;
    static constexpr size_t spare = 64;         // bytes behind what was read: a '\0', and what a look by 16 bytes may find
    // Exit status: a \r has to be taken out, or a record measured, before this program gets it.
    static constexpr int pipe_status = 92;
    static constexpr uint64_t few_looks = 1 << 10, least_won = 4;
    static constexpr size_t at_once = 1 << 18;  // bytes of a read, which are in the processor's cache when they are used

    // Goes on to the beginning of the next record that holds `text`, of what has been read, or of the one that has not been read
    // to its end.
    HD_NOINLINE void pass(const char *text, uint64_t &passed) {
        *stop = saved_;
        char *const found = hd::strstr(stop, text), *const end = found ? found : filled_;
        const void *const before = hd::memrchr(stop, '\n', static_cast<size_t>(end - stop));
        const uint64_t lines = before ? count_lines(stop, static_cast<const char *>(before) + 1) : 0;
        if (before) stop = static_cast<char *>(const_cast<void *>(before)) + 1;
        saved_ = *stop;
        passed += lines;
        looked_ += 1;
        won_ += lines;
        if (looked_ % few_looks == 0 && won_ < least_won * looked_) worth_passing_ = false;
    }

    HD_DEVICE void open(char *from, char *to) {
        begin = from;
        stop = to;
        saved_ = *to;
        *to = 0;
    }

    // The '\n' of a line of which the rest begins at `from`; null where it has not been read yet.
    HD_DEVICE char *line_end(char *from) const {
        if (__builtin_expect(filled_ - from < 32, 0)) return nullptr;
        for (int i = 0; i < 32; i += 16)
            if (const uint32_t near = matches16(from + i, '\n')) return from + i + __builtin_ctz(near);
        return static_cast<char *>(hd::memchr(from + 32, '\n', static_cast<size_t>(filled_ - from - 32)));
    }

    // The same near the end of what was read.
    HD_NOINLINE bool next_after_reading() {
        char *from = stop;
        if (from) *from = saved_;
        for (size_t looked = 0;;) {  // bytes of the record that hold no '\n'
            const size_t held = static_cast<size_t>(filled_ - from);
            if (held != looked) {
                if (char *const found = static_cast<char *>(hd::memchr(from + looked, '\n', held - looked))) {
                    open(from, found + 1);
                    return true;
                }
            }
            looked = held;
            from = make_room(from, held);
            if (!read_more()) return end(held);
        }
    }

    bool end(size_t held) {
        begin = stop = filled_;
        saved_ = 0;
        if (held) leave(Status::unsupported);  // a line without an end is no record
        return false;
    }

    // Moves the `held` bytes of an unfinished record to the buffer's beginning, or into a larger one.
    char *make_room(char *from, size_t held) {
        if (held < size_ / 2) {
            if (held) __builtin_memmove(buffer_, from, held);
        } else {
            if (itself_ && size_) sys::_exit(pipe_status);  // records of a MiB and more are measured there
            const size_t wished = size_ ? 2 * size_ : first_size;
            char *const larger = map(wished);
            if (held) __builtin_memcpy(larger, from, held);
            if (buffer_) sys::munmap(buffer_ - margin, size_ + 2 * margin);
            buffer_ = larger;
            size_ = wished;
        }
        filled_ = buffer_ + held;
        return buffer_;
    }

    static char *map(size_t size) {
        char *const made = size > most_size ? nullptr : sys::reserve(size + 2 * margin);
        if (!made || sys::mprotect(made + margin, size, sys::read_and_write)) leave(Status::no_room);
        return made + margin;
    }

    bool read_more() {
        const size_t room = size_ - static_cast<size_t>(filled_ - buffer_) - spare;
        size_t wanted = room < at_once ? room : at_once;
        if (itself_ && left_ < wanted) wanted = left_;
        long got;
        do got = sys::read(0, filled_, wanted);
        while (got < 0 && sys::again());
        if (got < 0 || (itself_ && wanted && got == 0)) sys::_exit(broken_status);  // the file is shorter than it was
        if (itself_ && __builtin_memchr(filled_, '\r', static_cast<size_t>(got))) sys::_exit(pipe_status);
        if (look_for_nul_ && worth_passing_) worth_passing_ = !__builtin_memchr(filled_, 0, static_cast<size_t>(got));
        left_ -= itself_ ? static_cast<uint64_t>(got) : 0;
        filled_ += got;
        *filled_ = 0;
        return got != 0;
    }

    char *buffer_ = nullptr, *filled_ = nullptr;
    size_t size_ = 0;
    bool itself_ = false;
    uint64_t left_ = 0;  // bytes of the file that are to be read
    char saved_ = 0;  // the byte in whose place the open record's '\0' stands
    bool look_for_nul_ = false, worth_passing_ = true;
    uint64_t looked_ = 0, won_ = 0;  // calls of `pass`, records that these passed over
};

inline Input input;

}  // namespace hd
