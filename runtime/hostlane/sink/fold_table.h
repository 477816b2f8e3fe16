// The keys of a task and what is kept of each: open addressing, one slot a key. Keys of up to sixteen bytes lie in their slots,
// longer ones in an arena.
#pragma once

#include "leave.h"
#include "sink/key_words.h"

namespace hd {

// Texts one behind the other, each at a multiple of eight, which its place counts.
class Arena {
 public:
    const char *at(uint32_t place) const { return bytes_ + uint64_t{8} * place; }
    uint64_t size() const { return size_; }
    // Its size once a text of `n` bytes more is there.
    uint64_t size_for(uint64_t n) const {
        uint64_t size = size_ ? size_ : 1 << 16;
        while (size < used_ + n) size *= 2;
        return size;
    }

    // The place of a copy; false where there is no memory.
    bool add(const char *text, uint64_t n, uint32_t &place) {
        if (used_ + n > most || (used_ + n > size_ && !grow(size_for(n)))) return false;
        __builtin_memcpy(bytes_ + used_, text, n);
        place = static_cast<uint32_t>(used_ / 8);
        used_ = (used_ + n + 7) / 8 * 8;
        return true;
    }

    void clear() { used_ = 0; }

 private:
    bool grow(uint64_t size) {
        char *const larger = sys::pages(size);
        if (!larger) return false;
        if (used_) __builtin_memcpy(larger, bytes_, used_);
        if (bytes_) sys::munmap(bytes_, size_);
        bytes_ = larger;
        size_ = size;
        return true;
    }

    static constexpr uint64_t most = uint64_t{1} << 35;
    char *bytes_ = nullptr;
    uint64_t size_ = 0, used_ = 0;
};

template <class State> class FoldTable {
 public:
    struct Slot {
        uint64_t first, second;  // KeyWords
        uint32_t place;          // of a long key in the arena
        uint32_t length;         // of the key, and one more: 0 is an empty slot
        State state;
    };

    // `most`: bytes that it may take.
    explicit FoldTable(uint64_t most) : most_(most) {
        if (!resize(first_slots)) leave(Status::no_room);
    }
    FoldTable(const FoldTable &) = delete;
    FoldTable &operator=(const FoldTable &) = delete;

    // Is it larger than what a processor's core has of cache, so that a slot takes its time to come?
    bool is_large() const { return mask_ >= few_slots; }
    HD_DEVICE void prefetch(uint64_t hash) const {
        const Slot *const slot = slots_ + (hash & mask_);
        __builtin_prefetch(slot);
        if (sizeof(Slot) > 32) __builtin_prefetch(reinterpret_cast<const char *>(slot + 1) - 1);
    }

    // The key's slot, or the empty one where it belongs.
    HD_DEVICE Slot *find(const KeyWords &words, const char *key) { return find(words, hash_of(words), key); }
    HD_DEVICE Slot *find(const KeyWords &words, uint64_t hash, const char *key) {
        for (uint64_t i = hash & mask_;; i = (i + 1) & mask_) {
            Slot &slot = slots_[i];
            const bool same = slot.first == words.first && slot.second == words.second && slot.length == words.length + 1;
            if (__builtin_expect(same, 1)) {
                if (__builtin_expect(words.length <= short_key, 1) || equals(slot, key, words.length)) return &slot;
            }
            if (slot.length == 0) return &slot;
        }
    }

    // Room for one more key, whose slot is then to be found anew; false: there is none. Three of four slots are used at most.
    bool make_room(uint64_t length) {
        if (length >= 0xffffffffu) return false;
        const uint64_t text = length > short_key ? arena_.size_for(length) : arena_.size(), slots = mask_ + 1;
        if (text > most_) return false;
        const uint64_t fit = (most_ - text) / sizeof(Slot);
        if (4 * (used_ + 1) <= 3 * slots) return slots <= fit;
        if (!is_large() && 4 * slots <= fit) return resize(4 * slots);
        return 2 * slots <= fit && resize(2 * slots);
    }

    // Takes an empty slot for a key; false: there is no memory.
    bool take(Slot *slot, const KeyWords &words, const char *key) {
        uint32_t place = 0;
        if (words.length > short_key && !arena_.add(key, words.length, place)) return false;
        slot->first = words.first;
        slot->second = words.second;
        slot->place = place;
        slot->length = static_cast<uint32_t>(words.length + 1);
        ++used_;
        return true;
    }

    // Calls with(key, state) for each key.
    template <class With> void each(With with) const {
        for (uint64_t i = 0; i <= mask_; ++i) {
            const Slot &slot = slots_[i];
            if (slot.length == 0) continue;
            const uint64_t n = slot.length - 1;
            const uint64_t words[2] = {slot.first, slot.second};
            const char *const key = n > short_key ? arena_.at(slot.place) : reinterpret_cast<const char *>(words);
            with(Text{key, n}, slot.state);
        }
    }

    void clear() {
        __builtin_memset(static_cast<void *>(slots_), 0, (mask_ + 1) * sizeof(Slot));
        used_ = 0;
        arena_.clear();
    }

 private:
    static constexpr uint64_t first_slots = 1 << 12, few_slots = (256 << 10) / sizeof(Slot);

    HD_NOINLINE bool equals(const Slot &slot, const char *key, uint64_t n) const {
        return __builtin_memcmp(arena_.at(slot.place), key, n) == 0;
    }

    HD_NOINLINE bool resize(uint64_t slots) {
        Slot *const made = reinterpret_cast<Slot *>(sys::large_pages(slots * sizeof(Slot)));
        if (!made) return false;
        for (uint64_t i = 0; slots_ && i <= mask_; ++i) {
            if (slots_[i].length == 0) continue;
            uint64_t to = hash_of({slots_[i].first, slots_[i].second, slots_[i].length - 1ull}) & (slots - 1);
            while (made[to].length) to = (to + 1) & (slots - 1);
            made[to] = slots_[i];
        }
        if (slots_) sys::munmap(slots_, (mask_ + 1) * sizeof(Slot));
        slots_ = made;
        mask_ = slots - 1;
        return true;
    }

    const uint64_t most_;
    Slot *slots_ = nullptr;
    uint64_t mask_ = 0, used_ = 0;
    Arena arena_;
};

}  // namespace hd
