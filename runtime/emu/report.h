// What the emulated device says of a kernel that did wrong. The first report of a launch stands.
#pragma once

#include "block.h"

namespace hd_emu __attribute__((visibility("hidden"))) {

// Text of limited size, cut where it does not fit.
struct Text {
    char *at;
    uint64_t left;

    Text(char *buffer, uint64_t size) : at(buffer), left(size) {}
    void vadd(const char *format, va_list arguments) {
        const int n = left ? std::vsnprintf(at, left, format, arguments) : 0;
        const uint64_t used = n < 0 ? 0 : static_cast<uint64_t>(n) < left ? static_cast<uint64_t>(n) : left - 1;
        if (left) at += used, left -= used;
    }
    __attribute__((format(printf, 2, 3))) void add(const char *format, ...) {
        va_list arguments;
        va_start(arguments, format);
        vadd(format, arguments);
        va_end(arguments);
    }
};

inline void Block::vreport(const Lane *lane, const char *format, va_list arguments) {
    if (failed) return;
    failed = true;
    Text text(error, error_size);
    text.add("emulated device: kernel %s, block (%u,%u,%u)", kernel->name, index.x, index.y, index.z);
    if (lane)
        text.add(", warp %u, lane %u (thread (%u,%u,%u))", lane->number / warp_lanes, lane->in_warp(), lane->thread.x,
                 lane->thread.y, lane->thread.z);
    text.add(lane ? ": it " : ": ");
    text.vadd(format, arguments);
}

inline void Block::report(const Lane *lane, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vreport(lane, format, arguments);
    va_end(arguments);
}

// The launch is over; nothing of this block runs any more.
inline void Block::fail(Lane &me, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vreport(&me, format, arguments);
    va_end(arguments);
    switch_stack(me.context, main, true);
    __builtin_unreachable();
}

// Who waits for what, behind the report: lanes of a warp that wait at the same place together, at most a dozen such lines.
inline void Block::append_waiting() {
    const uint64_t used = std::strlen(error);
    Text text(error + used, error_size - used);
    unsigned lines = 0;
    for (unsigned w = 0; w < n_warps; ++w) {
        const Warp &warp = warps[w];
        for (uint32_t seen = warp.ended | ~warp.present; ~seen;) {
            const Lane &first = warp.lanes[__builtin_ctz(~seen)];
            uint32_t same = 0;
            for (uint32_t rest = ~seen; rest; rest &= rest - 1) {
                const Lane &lane = warp.lanes[__builtin_ctz(rest)];
                const Wait &a = lane.wait, &b = first.wait;
                if (lane.state != first.state) continue;
                if (lane.state != State::waiting || (a.op == b.op && a.mask == b.mask && a.place == b.place))
                    same |= lane.bit();
            }
            seen |= same;
            if (++lines > 12) continue;
            text.add("\n  warp %u, lanes 0x%08x: ", w, same);
            if (first.state != State::waiting) text.add("not waiting");
            else if (first.wait.op >= Op::syncthreads) text.add("wait at %s", name_of(first.wait.op));
            else text.add("wait at %s, mask 0x%08x", name_of(first.wait.op), first.wait.mask);
            if (first.state == State::waiting) text.add(" (%s:%u)", first.wait.place.file, first.wait.place.line);
        }
        if (warp.ended && ++lines <= 12) text.add("\n  warp %u, lanes 0x%08x: ended", w, warp.ended);
    }
    if (lines > 12) text.add("\n  and %u more", lines - 12);
}

}  // namespace hd_emu
