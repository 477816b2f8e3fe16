// What a loop of the record copied last (copy_ahead.h).
#pragma once

namespace hd {

// `bytes` bytes at `to` were those at `from`, which can be read still.
struct Copied {
    const char *to = nullptr, *from = nullptr;
    unsigned bytes = 0;
};
inline Copied last_copied;

}  // namespace hd
