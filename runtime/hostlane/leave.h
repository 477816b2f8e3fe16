// How a host kernel ends: done, or left, with its report on descriptor 3. A task that was left is done again by plain filters,
// which decide what the program does; so nothing has to be undone here, and nothing is.
#pragma once

#include "lane/base.cuh"
#include "output.h"
#include "steps/abi.h"

namespace hd {

constexpr int report_descriptor = 3, left_status = 90;

// Pairs are printed as the map prints them: nothing is to be combined.
inline bool as_text = false;

// The record that is being worked on.
inline uint64_t record_number = 0;

// Lines `name value`, and behind them what records have gathered, where they do.
class Report {
 public:
    template <size_t n> void add(const char (&name)[n], uint64_t value) {
        out_.put(text(name, n - 1));
        out_.put(chr(' '));
        out_.put(dec(static_cast<unsigned long long>(value)));
        out_.put(chr('\n'));
    }
    void add_totals(const void *totals, size_t n) {
        add("totals", n);
        out_.put_bytes(totals, n);
    }
    void end() { out_.flush(); }

 private:
    Output out_{report_descriptor};
};

// Ends the process. `line` is the program's, or 0.
[[noreturn, gnu::cold]] HD_NOINLINE void leave(Status status, uint32_t line = 0) {
    static bool left;
    while (__atomic_exchange_n(&left, true, __ATOMIC_ACQ_REL)) {}  // another thread does, and ends the process
    Report report;
    report.add("left", static_cast<uint64_t>(status));
    report.add("record", record_number);
    report.add("line", line);
    report.end();
    sys::_exit(left_status);
}

// What can be left where there is no lane: functions that take one get this.
struct Leaving {
    [[noreturn]] void fail(Status status, uint32_t line = 0) const { leave(status, line); }
};
inline Leaving leaving;

}  // namespace hd
