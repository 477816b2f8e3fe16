// A host kernel's main(), behind the text. The loop's end prints the lines (lane.cuh).
#pragma once

#include "input.h"
#include "live_ins.h"
#include "steps/abi.h"

namespace hd {

// The words of the command line: `text`, where nothing is to be combined, and a number of bytes of the file that it reads itself.
inline void take(char **words) {
    const char *word = *words ? *++words : nullptr;
    as_text = word && *word == 't';
    input.take(as_text ? *++words : word);
}

// Behind the report, which the loop's end has written.
inline void report_totals(const void *totals = nullptr, size_t n = 0) {
    if (n == 0) return;
    Report report;
    report.add_totals(totals, n);
    report.end();
}

}  // namespace hd

// given: the program hands variables over from before its loop. The rest: where what records gather lies, and its size, if
// they do.
#define HD_MAIN(kernel, Shared, given, ...)                                                       \
    int main(int, char **words) {                                                                 \
        hd::take(words);                                                                          \
        alignas(16) static Shared shared;                                                         \
        if (given) hd::LiveIns::read(reinterpret_cast<char *>(&shared), sizeof shared);           \
        kernel(hd::Task{}, shared);                                                               \
        hd::report_totals(__VA_ARGS__);                                                           \
        return 0;                                                                                 \
    }
