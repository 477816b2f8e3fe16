// The kernel hd_audit (audit.cuh): what is counted of a map kernel's pairs before any combiner sees them. No code.
#pragma once

#include "abi.h"

namespace hd {

// How a combiner reads pairs; the numbers of hd_pair_check in runtime/host/task/api.h.
enum class KeyReader : uint32_t { any = 0, token = 1, field = 2, int32 = 3, int64 = 4, uint32 = 5, uint64 = 6 };
enum class ValueReader : uint32_t { any = 0, int32 = 1, int64 = 2, uint32 = 3, uint64 = 4 };

constexpr uint32_t most_values = 8, most_between = 4;

// What a combiner reads of a pair's value: `count` numbers (0: any value will do), and between two of them these bytes,
// whose first one is no digit.
struct ValueForm {
    uint32_t count;
    ValueReader readers[most_values];
    uint8_t between_size[most_values];
    char between[most_values][most_between];
};

// bytes[i] = size of pair order[i] as two serialised Texts (Hadoop's MAP_OUTPUT_BYTES); unreadable[i] = 1 where its reader
// would take it for another pair, as PairCheck::accepts says. For Device::scan. *too_long = 1 where some line has more than
// longest_line bytes.
struct AuditArgs {
    const char *arena;
    const Pair *pairs;
    const uint32_t *order;
    uint32_t *bytes;
    uint32_t *unreadable;
    unsigned long long *too_long;
    uint64_t longest_line;
    uint64_t longest_key;  // that reads back; 0: any
    uint64_t none;         // a number that no key may be, where has_none
    uint32_t has_none;
    KeyReader key;
    uint32_t count;
    ValueForm value;
};

}  // namespace hd
