// A reducer as a program: the pairs of a partition's segments are folded by key, a part of the keys after the other, and what
// is kept of each key is printed in the order of keys. No merge: the pairs of a key meet in a table, segment after segment, which
// is the order that a merge gives them. So it does not matter whether the reducer's steps may be done in another order.
//
//   program THREADS < segments (segment.h)
//
// First every segment is looked through, by as many threads (lengths, order, checksum, places to cut at). Then the order of keys is
// cut into parts (key_parts.h), and threads take groups of parts. `Fold` is the reducer (compiler/emit/key_loop.py), as in
// sink/fold_sink.h.
#pragma once

#include "reduce/crew.h"
#include "reduce/key_table.h"
#include "reduce/key_parts.h"
#include "reduce/texts.h"
#include "sink/key_rule.cuh"
#include "sink/value_text.h"

namespace hd {

template <class Fold> class Reduction {
 public:
    Reduction(unsigned threads, uint64_t memory) : threads_(threads), memory_(memory), part_(memory / 512 ? memory / 512 : 1) {}

    void run() {
        segments_.take();
        const uint64_t least = segments_.bytes / part_ + 1;
        if (threads_ > least) threads_ = static_cast<unsigned>(least);
        auto look = [this] { look_through(); };
        together(threads_, look);
        parts_.cut(segments_, part_);
        const uint64_t groups = threads_ == 1 ? 1 : groups_a_thread * threads_;
        in_group_ = (parts_.count() + groups - 1) / groups;
        if (threads_ > 1 && in_group_ > most_in_group) in_group_ = most_in_group;
        groups_ = (parts_.count() + in_group_ - 1) / in_group_;
        Texts texts(groups_);
        texts_ = &texts;
        print(Fold::head());
        auto work = [this] { reduce_groups(); };
        together(threads_, work);
        print(Fold::tail());
        report();
    }

 private:
    using State = typename Fold::State;
    using Table = KeyTable<State>;
    using Kept = std::conditional_t<Fold::joins, TextRoom, TextsInPlace>;  // texts
    static constexpr uint64_t groups_a_thread = 8, most_in_group = 128, at_once = 1 << 20;

    void look_through() {
        const uint64_t step = part_ / 64 ? part_ / 64 : 1;
        for (;;) {
            const uint64_t i = __atomic_fetch_add(&next_segment_, 1, __ATOMIC_RELAXED);
            if (i >= segments_.count) return;
            segments_.all[i].look_through(step);
            __atomic_fetch_add(&records_, segments_.all[i].records, __ATOMIC_RELAXED);
        }
    }

    void reduce_groups() {
        Table table(memory_);
        Kept texts(memory_);
        const char **const at = reinterpret_cast<const char **>(sys::pages(segments_.count * sizeof(char *) + 1));
        if (!at) leave(Status::no_room);
        for (;;) {
            const uint64_t group = __atomic_fetch_add(&next_group_, 1, __ATOMIC_RELAXED);
            if (group >= groups_) return;
            while (texts_->is_full() && !texts_->is_next(group)) sys::usleep(1000);
            reduce_group(group, table, texts, at);
        }
    }

    void reduce_group(uint64_t group, Table &table, Kept &texts, const char **at) {
        const uint64_t first = group * in_group_, end = first + in_group_ < parts_.count() ? first + in_group_ : parts_.count();
        for (uint64_t i = 0; i < segments_.count; ++i) at[i] = parts_.begin(first, segments_.all[i]);
        Printed out;
        for (uint64_t part = first; part < end; ++part) {
            reduce_part(parts_.end(part), table, texts, at);
            table.each([&](const typename Table::Entry &entry) {
                Fold::finish(entry.state, Text{entry.key, entry.words.length}, out);
            });
            __atomic_fetch_add(&keys_, table.size(), __ATOMIC_RELAXED);
            if (out.size() >= at_once && texts_->is_next(group)) out.write();
        }
        texts_->done(group, out);
    }

    void reduce_part(const KeyCut *end, Table &table, Kept &texts, const char **at) {
        uint64_t bytes = 0;
        table.clear();
        texts.clear();
        for (uint64_t i = 0; i < segments_.count; ++i) {
            const char *const from = at[i];
            at[i] = fold(from, segments_.all[i].end, end, table, texts);
            bytes += static_cast<uint64_t>(at[i] - from);
            if (bytes < at_once && i + 1 < segments_.count) continue;
            progress(bytes);
            bytes = 0;
        }
    }

    // A segment's records from `at` on that are in the part; where the others begin.
    static const char *fold(const char *at, const char *const stop, const KeyCut *end, Table &table, Kept &texts) {
        table.begin_run();
        Record record;
        for (const char *next; at != stop; at = next) {
            next = record_at(at, stop, record);
            const KeyWords words = key_words(record.key, record.key_size);
            if (end && !end->above(prefix_of(words), record.key, record.key_size)) break;
            typename Fold::Values values;
            ValueText text = {record.value, record.value + record.value_size};
            if (__builtin_expect(!Fold::read(values, text), 0)) leave(Status::unreadable);
            if (Fold::fields == 0 && __builtin_memchr(record.value, '\n', record.value_size)) leave(Status::unreadable);
            auto *const entry = table.find(words, record.key);
            if (__builtin_expect(entry != nullptr, 1)) {
                Fold::same(entry->state, values, texts);
                continue;
            }
            if (!Fold::key.accepts(record.key, record.key_size)) leave(Status::unreadable);
            Fold::first(table.add(words, record.key)->state, values, texts);
        }
        return at;
    }

    static void print(const Literal &text) {
        Output out(1);
        out.put(text);
        out.flush();
    }

    void report() const {
        Report report;
        report.add("records", records_);
        report.add("pairs", records_);
        report.add("bytes", 0);
        report.add("keys", keys_);
        report.add("partial", 0);
        report.add("longest", 0);
        report.end();
    }

    unsigned threads_;
    const uint64_t memory_, part_;  // bytes: of a table, of a part's records
    Segments segments_;
    KeyParts parts_;
    Texts *texts_ = nullptr;
    uint64_t in_group_ = 1, groups_ = 1;
    uint64_t next_segment_ = 0, next_group_ = 0, records_ = 0, keys_ = 0;
};

inline uint64_t number_of(const char *text, uint64_t other) {
    ValueText digits = {text, text + (text ? hd::strlen(text) : 0)};
    uint64_t number;
    return text && digits.number(number) && digits.at_end() && number ? number : other;
}

}  // namespace hd

// HETERODOOP_HOST_KERNEL_BYTES, of tests, in place of 256 MiB.
#define HD_REDUCE_MAIN(Fold)                                                                                   \
    int main(int, char **words) {                                                                              \
        const uint64_t threads = hd::number_of(words[0] ? words[1] : nullptr, 1);                              \
        const uint64_t memory = hd::number_of(hd::sys::getenv("HETERODOOP_HOST_KERNEL_BYTES"), 256ull << 20);  \
        static hd::Reduction<Fold> reduction(threads < 256 ? static_cast<unsigned>(threads) : 256, memory);    \
        reduction.run();                                                                                       \
        return 0;                                                                                              \
    }
