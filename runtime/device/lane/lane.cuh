// One lane of a map or combine kernel: takes work items, reads their records, prints lines.
//
// The lines that an item prints become pairs (abi.h). What the program prints is one stream of bytes, whatever the calls:
// text without a newline at its end waits for what follows. A record that leaves such text behind would be continued by
// the next record's output: left to the CPU, like everything else that Lane::fail names.
#pragma once

#include "lane/items.cuh"
#include "lane/lines.cuh"
#include "lane/reader.cuh"
#include "lane/sinks.cuh"

namespace hd {

// The text that waits for its newline: `length` bytes at `at`, where `room` may be written. `key`: offset of its first tab.
struct Pending {
    char *at = nullptr;
    uint32_t length = 0, key = nowhere;
    uint64_t room = 0;
};

// What printing changes in a lane; goes into and out of the rare parts by value, so that the lane stays in registers.
template <class Sink> struct Printer {
    Sink sink;
    Pending pending;
    uint32_t sequence = 0;

    // A line of the stream: `key` is the offset of its first tab, or nowhere.
    HD_DEVICE void line(const Task &task, uint32_t item, const char *at, uint32_t length, uint32_t key, uint32_t stream) {
        if (sequence == to_stderr) fail(task.failure, item, Status::unsupported, 0);
        const uint32_t key_length = key < length ? key : length;
        uint64_t *slot = reinterpret_cast<uint64_t *>(sink.slot(task, item));  // three stores for five
        slot[0] = static_cast<uint64_t>(at - task.out.arena);
        slot[1] = static_cast<uint64_t>(key_length) << 32 | length;
        slot[2] = static_cast<uint64_t>(sequence++ | stream) << 32 | item;
    }
};

// Room for `size` more bytes behind the text that waits, which moves if it must.
template <class Sink>
HD_NOINLINE Printer<Sink> make_room(Printer<Sink> p, const Task &task, uint32_t item, uint64_t size) {
    const uint64_t needed = p.pending.length + size;
    if (needed >= no_pair) fail(task.failure, item, Status::unsupported, 0);
    if (needed <= p.pending.room) return p;
    const uint64_t wished = needed < 2 * p.pending.room ? 2 * p.pending.room : needed;
    const uint64_t room = p.sink.wish(task, wished, needed);
    char *to = p.sink.text(task, item, room);
    for (uint32_t i = 0; i < p.pending.length; ++i) to[i] = p.pending.at[i];
    p.pending.at = to;
    p.pending.room = p.sink.room(task, to, room);
    return p;
}

// Cuts new text, `size` bytes at `at`, into lines: the first begins with the text that waits, which lies before `at`.
template <class Sink>
HD_NOINLINE Printer<Sink> cut_lines(Printer<Sink> p, const Task &task, uint32_t item, const char *at, uint32_t size) {
    const char *const stop = at + size;
    char *start = p.pending.length ? p.pending.at : const_cast<char *>(at);
    uint64_t room = p.pending.length ? p.pending.room : p.sink.room(task, at, size);
    uint32_t key = p.pending.key;
    for (const char *c = at; c != stop; ++c) {
        if (*c == '\t' && key == nowhere) key = static_cast<uint32_t>(c - start);
        if (*c != '\n') continue;
        p.line(task, item, start, static_cast<uint32_t>(c - start), key, 0);
        room -= static_cast<uint64_t>(c + 1 - start);
        start = const_cast<char *>(c) + 1;
        key = nowhere;
    }
    p.pending = {start, static_cast<uint32_t>(stop - start), key, room};
    return p;
}

// Of a lane whose pairs are all written.
struct NoFold {
    static HD_DEVICE void start(const Task &) {}
};

// `Fold`: what folds pairs (map_fold.cuh).
template <class Sink, class Items = GlobalItems, class Fold = NoFold> struct Lane {
    Reader in;
    Printer<Sink> out;
    int err = 0;            // errno
    char *token = nullptr;  // strtok's place
    unsigned depth = 0;     // of recursion
    uint32_t item = 0;
    bool open = false;      // an item is being worked on
    Items items;
    Fold fold;

    // By all threads of the block, before anything that may end a lane: there is a barrier in it.
    explicit HD_DEVICE Lane(const Task &task) : in(task) {
        Fold::start(task);
        if (threadIdx.x == 0) {
            Sink::start_block();
            Items::start_block();
        }
        __syncthreads();
    }

    // Closes the item before, takes the next: false if none is left. Not for the rest of a launch that has failed.
    HD_DEVICE bool next() {
        finish();
        const Task &task = in.task;
        if (peek_word(&task.failure->status) != static_cast<uint32_t>(Status::ok)) end_lane();
        const uint32_t taken = items.take(task);
        if (taken >= task.items) {
            out.sink.close(task);
            return false;
        }
        item = task.order ? task.order[taken] : taken;
        in.open(item);
        out.sequence = 0;
        err = 0;
        token = nullptr;
        depth = 0;
        open = true;
        return true;
    }

    // Closes the last item.
    HD_DEVICE void finish() {
        if (!open) return;
        if (out.pending.length) fail(Status::unterminated);
        if (!in.complete()) fail(Status::reader_stopped);
        open = false;
    }

    // stdout: the pieces one after the other, and returns their bytes.
    template <class... Piece> HD_DEVICE int print(const Piece &...pieces) {
        const uint64_t size = (static_cast<uint64_t>(pieces.size()) + ... + 0);
        if (size == 0) return 0;
        char *const at = room_for(size);
        const uint32_t length = static_cast<uint32_t>(size);
        const bool is_short = HD_WORD_OUTPUT && length <= short_text && out.pending.length == 0;
        uint64_t words[short_text / 8];
        char *end = is_short ? reinterpret_cast<char *>(words) : at;
        ((end = pieces.write(end)), ...);
        Marks marks;
        if (is_short)
            marks.add_copied(at, words, length);
        else
            marks.add(at, length);
        if (marks.carriage_return) fail(Status::carriage_return);
        if (__builtin_expect(out.pending.length == 0 && marks.lines == 1 && marks.newline == length - 1, 1))
            out.line(in.task, item, at, length - 1, marks.tab, 0);
        else
            out = cut_lines(out, in.task, item, at, length);
        return static_cast<int>(size);
    }

    // stdout: a line of the form that the combiner's fold reads. Its key is the first piece; `Numbers` say where those of its
    // value are (PieceAt, Constant). It is folded, or printed.
    template <class... Numbers, class... Piece> HD_DEVICE int pair(const Piece &...pieces) {
        if (in.task.fold.ids && __builtin_expect(out.pending.length == 0, 1)) {
            const uint64_t size = (static_cast<uint64_t>(pieces.size()) + ... + 0);
            if (fold.add(out.sink, in.task, item, size, first_of(pieces...), Numbers::of(pieces...)...))
                return static_cast<int>(size);
        }
        return print(pieces...);
    }

    // By all threads that are left, behind the last item.
    HD_DEVICE void close() { fold.close(out.sink, in.task); }

    // stderr: one Pair a call, whatever lines it holds. The host puts them in order and cuts lines.
    template <class... Piece> HD_DEVICE int warn(const Piece &...pieces) {
        const uint64_t size = (static_cast<uint64_t>(pieces.size()) + ... + 0);
        if (size == 0) return 0;
        check_size(size);
        char *const at = out.sink.text(in.task, item, size);
        char *end = at;
        ((end = pieces.write(end)), ...);
        out.line(in.task, item, at, static_cast<uint32_t>(size), nowhere, to_stderr);
        return static_cast<int>(size);
    }

    // Gives the launch up: `detail` is the source line. Does not return.
    [[noreturn]] HD_DEVICE void fail(Status status, uint32_t detail = 0) { hd::fail(in.task.failure, item, status, detail); }

 private:
    template <class First, class... More> static HD_DEVICE const First &first_of(const First &first, const More &...) {
        return first;
    }

    HD_DEVICE char *room_for(uint64_t size) {
        check_size(size);
        if (__builtin_expect(out.pending.length == 0, 1)) return out.sink.text(in.task, item, size);
        out = make_room(out, in.task, item, size);
        return out.pending.at + out.pending.length;
    }

    // printf itself fails above INT_MAX.
    HD_DEVICE void check_size(uint64_t size) {
        if (size > 0x7fffffffu) fail(Status::unsupported);
    }
};

}  // namespace hd

#include "lane/moves.cuh"
