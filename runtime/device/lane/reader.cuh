// The standard input of one work item: the lines of its records, then end of file.
//
// Lines are read where they lie staged (RecordTable): getline hands out the slot itself. Values, and what lies in the
// buffers afterwards, are glibc's. In the C program other records follow where the item ends: `complete` says whether
// the item was read in a way to which this makes no difference.
#pragma once

#include "lane/failure.cuh"
#include "libc/scan_end.cuh"

namespace hd {

constexpr uint64_t text_margin = 1 << 16;  // bytes around the staged records where a pointer is taken for the line's

struct Reader {
    const Task &task;
    uint32_t item = 0;
    uint32_t record = 0, last = 0;        // the records that follow the open one
    char *begin = nullptr;                // the open record
    char *at = nullptr, *stop = nullptr;  // what is unread of it, its '\n' included; its '\0' is at `stop`
    uint32_t ends = 0;                    // how many reads found nothing any more
    bool torn = false;                    // a scanf met the end where the C program would have read on
    uint32_t call_record = 0, call_ends = 0;  // where the scanf call in progress began
    char *call_at = nullptr;
    const char *filled = nullptr, *filled_end = nullptr;  // what the last fgets wrote, its '\0' included

    explicit HD_DEVICE Reader(const Task &of) : task(of) {}

    HD_DEVICE void open(uint32_t taken) {
        item = taken;
        record = task.begin ? task.begin[taken] : taken;
        last = task.begin ? task.begin[taken + 1] : taken + 1;
        begin = at = stop = nullptr;
        ends = 0;
        torn = false;
        more();
        start_call();
    }

    // The rest of the line. The slot, with its '\n' and '\0', is the program's to write to until it reads again.
    // Returns the bytes before the '\0', or -1 at the end. *capacity grows as glibc makes it grow.
    HD_DEVICE long getline(char **line, unsigned long *capacity) {
        if (at_end()) return -1;
        const long length = stop - at;
        grow(*line == nullptr, capacity, static_cast<unsigned long>(length) + 1);
        *line = at;
        at = stop;
        start_call();
        return length;
    }

    // Up to size - 1 bytes, to the end of the line at most. Null at the end, the buffer untouched. A size of 1 reads
    // nothing and never ends, so that a loop over it would not: left to the CPU.
    HD_DEVICE char *fgets(char *buffer, int size) {
        if (size == 1) fail(task.failure, item, Status::unsupported, 0);
        if (size <= 0 || at_end()) return nullptr;
        const long rest = stop - at, room = size - 1;
        const long count = rest < room ? rest : room;
        for (long i = 0; i < count; ++i) buffer[i] = at[i];
        buffer[count] = 0;
        filled = buffer;
        filled_end = buffer + count + 1;
        at += count;
        start_call();
        return buffer;
    }

    // Bytes of the line that are left, its '\n' included; 0 at the end.
    HD_DEVICE uint64_t rest() const {
        if (at != stop) return static_cast<uint64_t>(stop - at);
        return record != last ? task.in.length[record] + 1 : 0;
    }

    // The next byte (0 to 255), or -1 at the end: getc, and a source for hd::scan.
    HD_DEVICE int peek() { return more() ? static_cast<unsigned char>(*at) : -1; }

    HD_DEVICE int get() {
        if (at_end()) return -1;
        return static_cast<unsigned char>(*at++);
    }

    // Does [to, to + size) lie in the open record or its '\0'?
    HD_DEVICE bool in_record(const void *to, size_t size) const {
        const char *first = static_cast<const char *>(to);
        return begin != nullptr && first >= begin && first + size <= stop + 1;
    }

    // Does it lie among the staged records, or so near that it was meant for one? Other memory is none of the line's.
    HD_DEVICE bool in_text(const void *at, uint64_t near = text_margin) const {
        const uint64_t place = reinterpret_cast<uint64_t>(at), first = reinterpret_cast<uint64_t>(task.in.text);
        const uint32_t most = task.in.count - 1;
        return place + near >= first && place <= first + task.in.offset[most] + task.in.length[most] + 1 + near;
    }

    // Does the open record still end in its '\0'?
    HD_DEVICE bool terminated() const {
        return begin != nullptr && *stop == 0;
    }

    // After a scanf call: takes note of how it ended, and returns its result.
    HD_DEVICE int scanned(int result, const char *format) {
        ends = call_ends;
        if (!more()) judge_end(result, format);
        start_call();
        return result;
    }

    // Every record was read, and the program was told of the end (in a map item once: by the read that ends the loop).
    HD_DEVICE bool complete() const {
        return !torn && at == stop && record == last && (task.begin ? ends != 0 : ends == 1);
    }

 private:
    HD_DEVICE bool more() {
        if (at == stop && record != last) {
            begin = at = task.in.text + task.in.offset[record];
            stop = at + task.in.length[record] + 1;
            ++record;
        }
        return at != stop;
    }

    HD_DEVICE bool at_end() {
        if (more()) return false;
        ++ends;
        return true;
    }

    HD_DEVICE void start_call() {
        call_record = record;
        call_at = at;
        call_ends = ends;
    }

    // The C program's call would have gone on into the next record. It comes to the same if this one took nothing at
    // all, or white space that the next call skips just as well.
    HD_DEVICE void judge_end(int result, const char *format) {
        if (result == -1) {
            ++ends;
            if (!took_nothing() && !(took_only_space() && skips_space_first(format) && !has_uncounted_space(format))) torn = true;
        } else if (!done_at_end(format, result)) {
            torn = true;
        }
    }

    HD_DEVICE bool took_nothing() const { return call_at == at && call_record == record; }

    HD_DEVICE bool took_only_space() const {
        if (record == call_record) return only_space(call_at, at);
        const char *open = task.in.text + task.in.offset[call_record - 1];  // a range has at least the record it began in
        if (!only_space(call_at, open + task.in.length[call_record - 1] + 1)) return false;
        for (uint32_t i = call_record; i < record; ++i) {
            open = task.in.text + task.in.offset[i];
            if (!only_space(open, open + task.in.length[i] + 1)) return false;
        }
        return true;
    }

    // getdelim: 120 bytes for a null pointer or no capacity, then the larger of double and what is needed.
    static HD_DEVICE void grow(bool none, unsigned long *capacity, unsigned long needed) {
        if (none || *capacity == 0) *capacity = 120;
        if (*capacity < needed) *capacity = needed < 2 * *capacity ? 2 * *capacity : needed;
    }
};

}  // namespace hd
