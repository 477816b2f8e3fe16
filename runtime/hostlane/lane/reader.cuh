// The standard input of one record, as runtime/device/lane/reader.cuh has it: one line, where it lies in the input's buffer,
// then end of file. Values, and what lies in the program's buffers afterwards, are glibc's.
#pragma once

#include "input.h"
#include "libc/scan_end.cuh"

namespace hd {

struct Reader {
    char *begin = nullptr;                // the open record
    char *at = nullptr, *stop = nullptr;  // what is unread of it, its '\n' included; its '\0' is at `stop`
    uint32_t ends = 0;                    // how many reads found nothing any more
    bool torn = false;                    // a scanf met the end where the C program would have read on
    uint32_t call_ends = 0;               // where the scanf call in progress began
    char *call_at = nullptr;
    const char *filled = nullptr, *filled_end = nullptr;  // what the last fgets wrote, its '\0' included

    // False: there is none left.
    HD_DEVICE bool open() { return opened(input.next()); }
    // The next one but those that are known not to hold `text`, which are counted in `passed`.
    HD_DEVICE bool open_holding(const char *text, uint64_t &passed) { return opened(input.next_holding(text, passed)); }

    HD_DEVICE long getline(char **line, unsigned long *capacity) {
        if (at_end()) return -1;
        const long length = stop - at;
        grow(*line == nullptr, capacity, static_cast<unsigned long>(length) + 1);
        *line = at;
        at = stop;
        start_call();
        return length;
    }

    HD_DEVICE char *fgets(char *buffer, int size) {
        if (size == 1) leave(Status::unsupported);
        if (size <= 0 || at_end()) return nullptr;
        const long left = stop - at, room = size - 1;
        const long count = left < room ? left : room;
        hd::memcpy(buffer, at, static_cast<size_t>(count));
        buffer[count] = 0;
        filled = buffer;
        filled_end = buffer + count + 1;
        at += count;
        start_call();
        return buffer;
    }

    HD_DEVICE uint64_t rest() const { return static_cast<uint64_t>(stop - at); }
    HD_DEVICE int peek() const { return at != stop ? static_cast<unsigned char>(*at) : -1; }
    HD_DEVICE int get() {
        if (at_end()) return -1;
        return static_cast<unsigned char>(*at++);
    }

    HD_DEVICE bool in_record(const void *to, size_t size) const {
        const char *first = static_cast<const char *>(to);
        return first >= begin && first + size <= stop + 1;
    }
    // Bytes of the record from a place on that do not lie behind its end; 0 for any other place.
    HD_DEVICE uint64_t rest_from(const char *place) const {
        return place >= begin && place <= stop ? static_cast<uint64_t>(stop - place) : 0;
    }
    HD_DEVICE bool in_text(const void *to, uint64_t near = text_margin) const {
        const uint64_t place = reinterpret_cast<uint64_t>(to);
        return place + near >= input.first() && place <= input.last() + near;
    }
    HD_DEVICE bool terminated() const { return *stop == 0; }

    HD_DEVICE int scanned(int result, const char *format) {
        ends = call_ends;
        if (at == stop) judge_end(result, format);
        start_call();
        return result;
    }

    HD_DEVICE bool complete() const { return !torn && at == stop && ends == 1; }

 private:
    HD_DEVICE bool opened(bool is_there) {
        if (!is_there) return false;
        begin = at = input.begin;
        stop = input.stop;
        ends = 0;
        torn = false;
        start_call();
        return true;
    }

    HD_DEVICE bool at_end() {
        if (at != stop) return false;
        ++ends;
        return true;
    }

    HD_DEVICE void start_call() {
        call_at = at;
        call_ends = ends;
    }

    // The C program's call would have gone on into the next record; see runtime/device/lane/reader.cuh.
    HD_DEVICE void judge_end(int result, const char *format) {
        if (result == -1) {
            ++ends;
            const bool nothing = call_at == at;
            torn |= !nothing && !(only_space(call_at, at) && skips_space_first(format) && !has_uncounted_space(format));
        } else {
            torn |= !done_at_end(format, result);
        }
    }

    static HD_DEVICE void grow(bool none, unsigned long *capacity, unsigned long needed) {
        if (none || *capacity == 0) *capacity = 120;
        if (*capacity < needed) *capacity = needed < 2 * *capacity ? 2 * *capacity : needed;
    }
};

}  // namespace hd
