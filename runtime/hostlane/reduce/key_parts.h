// The order of keys cut into parts of about the same size, by keys out of the segments themselves: each part is small enough
// for the processor's cache, and several threads can work on parts at a time.
#pragma once

#include "reduce/runs.h"

namespace hd {

// Where a part begins: at the first record whose key is not below.
struct KeyCut {
    uint64_t prefix;
    const char *key;
    uint64_t size;

    HD_DEVICE bool above(uint64_t other_prefix, const char *other, uint64_t n) const {
        if (__builtin_expect(other_prefix != prefix, 1)) return other_prefix < prefix;
        return compare_keys(other, n, key, size) < 0;
    }
};

class KeyParts {
 public:
    // Cuts `segments`, which have been looked through, into parts of about `bytes`.
    void cut(const Segments &segments, uint64_t bytes) {
        Grown<Ordered> places, other;
        Grown<uint64_t> starts;
        for (uint64_t i = 0; i < segments.count; ++i) {
            const Segment &segment = segments.all[i];
            if (segment.n_places) starts.add(places.size());
            for (uint64_t j = 0; j < segment.n_places; ++j) {
                const KeyCut cut = at(segment.places[j], segment.end);
                places.add({cut.prefix, reinterpret_cast<uint64_t>(segment.places[j])});
            }
        }
        const auto key = [](const Ordered &one) { return at(reinterpret_cast<const char *>(one.at), nullptr); };
        merge_runs(places, other, starts, [&](const Ordered &a, const Ordered &b) {
            const KeyCut right = key(b), left = key(a);
            return compare_keys(left.key, left.size, right.key, right.size) < 0;
        });
        const uint64_t wanted = segments.bytes / bytes + 1, n = places.size();
        for (uint64_t i = 1; i < wanted && n; ++i) {
            const KeyCut found = key(places[static_cast<uint64_t>(static_cast<unsigned __int128>(i) * n / wanted)]);
            const KeyCut *const last = cuts_.size() ? &cuts_[cuts_.size() - 1] : nullptr;
            if (!last || last->above(found.prefix, found.key, found.size) ||
                compare_keys(last->key, last->size, found.key, found.size) != 0)
                cuts_.add(found);
        }
    }

    uint64_t count() const { return cuts_.size() + 1; }
    // Where a part ends; null: the last one.
    const KeyCut *end(uint64_t part) const { return part < cuts_.size() ? &cuts_[part] : nullptr; }

    // Where a part begins in a segment.
    const char *begin(uint64_t part, const Segment &segment) const {
        if (part == 0 || segment.n_places == 0) return segment.begin;
        const KeyCut &cut = cuts_[part - 1];
        uint64_t low = 0, high = segment.n_places;  // places[low] is below the cut, places[high] is not
        while (high - low > 1) {
            const uint64_t middle = low + (high - low) / 2;
            (below(segment.places[middle], segment.end, cut) ? low : high) = middle;
        }
        const char *from = segment.places[low];
        Record record;
        while (from != segment.end && below(from, segment.end, cut)) from = record_at(from, segment.end, record);
        return from;
    }

 private:
    // `end` null: the record is known to be whole.
    static KeyCut at(const char *place, const char *end) {
        Record record;
        record_at(place, end ? end : reinterpret_cast<const char *>(~uintptr_t{0} >> 1), record);
        return {prefix_of(key_words(record.key, record.key_size)), record.key, record.key_size};
    }
    static bool below(const char *place, const char *end, const KeyCut &cut) {
        const KeyCut found = at(place, end);
        return cut.above(found.prefix, found.key, found.size);
    }

    Grown<KeyCut> cuts_;
};

}  // namespace hd
