// Keys of a part of the order and what is kept of each, in the order in which they came; keys lie in the segments.
#pragma once

#include "reduce/runs.h"

namespace hd {

template <class State> class KeyTable {
 public:
    struct Entry {
        KeyWords words;
        const char *key;
        State state;
    };

    // `limit`: bytes that entries, and places, may take.
    explicit KeyTable(uint64_t limit) : limit_(limit) {}

    // The key's entry; null: it is new.
    HD_DEVICE Entry *find(const KeyWords &words, const char *key) const {
        const uint64_t hash = hash_of(words);
        for (uint64_t i = hash & mask_;; i = (i + 1) & mask_) {
            const uint64_t place = places_[i];
            if (place == 0) return nullptr;
            if ((place ^ hash) >> 32) continue;
            Entry &entry = entries_[(place & 0xffffffff) - 1];
            if (entry.words.first != words.first || entry.words.second != words.second) continue;
            if (entry.words.length == words.length && (words.length <= short_key || equal(entry.key, key, words.length)))
                return &entry;
        }
    }

    // A new key; what is kept of it is for who asks.
    HD_NOINLINE Entry *add(const KeyWords &words, const char *key) {
        if (2 * (entries_.size() + 1) > mask_) grow();
        put(hash_of(words), entries_.size());
        return &entries_.add({words, key, State{}});
    }

    // Ready for other keys.
    void clear() {
        if (places_) __builtin_memset(places_, 0, (mask_ + 1) * sizeof *places_);
        if (!places_) grow();
        entries_.clear();
        starts_.clear();
    }

    // What is added from now on comes in the order of keys.
    void begin_run() { starts_.add(entries_.size()); }

    // Calls with(entry) in the order of keys.
    template <class With> void each(With with) {
        order_.clear();
        order_.reserve(entries_.size());
        for (uint64_t i = 0; i < entries_.size(); ++i) order_.add({prefix_of(entries_[i].words), i});
        merge_runs(order_, other_, starts_, [&](const Ordered &a, const Ordered &b) {
            const Entry &left = entries_[a.at], &right = entries_[b.at];
            return compare_keys(left.key, left.words.length, right.key, right.words.length) < 0;
        });
        for (uint64_t i = 0; i < order_.size(); ++i) with(entries_[order_[i].at]);
    }

    uint64_t size() const { return entries_.size(); }

 private:
    static HD_NOINLINE bool equal(const char *a, const char *b, uint64_t n) { return __builtin_memcmp(a, b, n) == 0; }

    HD_DEVICE void put(uint64_t hash, uint64_t entry) {
        uint64_t i = hash & mask_;
        while (places_[i]) i = (i + 1) & mask_;
        places_[i] = (hash >> 32 << 32) | (entry + 1);
    }

    HD_NOINLINE void grow() {
        const uint64_t places = places_ ? 2 * (mask_ + 1) : 64;
        if (places > limit_ / sizeof *places_ || places > uint64_t{1} << 32) leave(Status::no_room);
        entries_.reserve(places / 2, limit_);
        if (places_) sys::munmap(places_, (mask_ + 1) * sizeof *places_);
        places_ = reinterpret_cast<uint64_t *>(sys::pages(places * sizeof *places_));
        if (!places_) leave(Status::no_room);
        mask_ = places - 1;
        for (uint64_t i = 0; i < entries_.size(); ++i) put(hash_of(entries_[i].words), i);
    }

    const uint64_t limit_;
    Grown<Entry> entries_;
    uint64_t *places_ = nullptr;  // an entry's number and one more, with the upper half of its hash above it
    uint64_t mask_ = 0;
    Grown<uint64_t> starts_;
    Grown<Ordered> order_, other_;
};

}  // namespace hd
