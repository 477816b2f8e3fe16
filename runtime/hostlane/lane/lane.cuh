// The one lane of a host kernel: takes the records of standard input one after the other, and gives what each prints to a sink
// as it is printed: into a table (sink/fold_sink.h) or out as text (sink/text_sink.h).
#pragma once

#include "lane/copied.h"
#include "lane/reader.cuh"
#include "sink/errors.h"

namespace hd {

template <class Sink> struct Lane {
    Reader in;
    Sink out;
    int err = 0;            // errno
    char *token = nullptr;  // strtok's place
    unsigned depth = 0;     // of recursion

    explicit Lane(const Task &) {}

    // Closes the record before, opens the next: false if none is left.
    HD_DEVICE bool next() {
        close();
        if (!in.open()) return false;
        begin();
        return true;
    }

    // The same; a record that does not hold `text` may be left out: the program would do nothing with it.
    HD_DEVICE bool next_holding(const char *text) {
        close();
        if (!in.open_holding(text, record_number)) return false;
        begin();
        return true;
    }

    // After the last record.
    void finish() {
        out.finish();
        errors.print();
        Report report;
        report.add("records", record_number);
        out.report(report);
        report.end();
    }

    // stdout: the pieces one after the other, and returns their bytes.
    template <class... Piece> HD_DEVICE int print(const Piece &...pieces) {
        out.print(pieces...);
        return length(pieces...);
    }

    // stderr, which nobody sees before all is done.
    template <class... Piece> HD_NOINLINE int warn(const Piece &...pieces) {
        (errors.put(pieces), ...);
        return length(pieces...);
    }

    [[noreturn]] HD_DEVICE void fail(Status status, uint32_t line = 0) { leave(status, line); }

 private:
    HD_DEVICE void begin() {
        err = 0;
        token = nullptr;
        depth = 0;
        last_copied.to = nullptr;
        open_ = true;
    }

    HD_DEVICE void close() {
        if (!open_) return;
        if (__builtin_expect(out.waits(), 0)) leave(Status::unterminated);
        if (__builtin_expect(!in.complete(), 0)) leave(Status::reader_stopped);
        ++record_number;
        open_ = false;
    }

    // printf itself fails above INT_MAX.
    template <class... Piece> static HD_DEVICE int length(const Piece &...pieces) {
        const uint64_t size = (static_cast<uint64_t>(pieces.size()) + ... + 0);
        if (__builtin_expect(size > 0x7fffffffu, 0)) leave(Status::unsupported);
        return static_cast<int>(size);
    }

    bool open_ = false;
};

}  // namespace hd

#include "lane/moves.cuh"
