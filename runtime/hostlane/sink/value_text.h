// Where texts of pairs' values lie that are kept of a key.
#pragma once

#include "leave.h"
#include "sink/texts.cuh"

namespace hd {

// Memory for texts that are copied, which does not move; a text that grows gets twice the room, so that half of it may be lost.
class TextRoom {
 public:
    // `most`: bytes that it may take.
    explicit TextRoom(uint64_t most) : left_(most) {}
    TextRoom(const TextRoom &) = delete;
    TextRoom &operator=(const TextRoom &) = delete;

    // No text is kept any more.
    void clear() {
        while (chunk_ && chunk_->before) {
            Chunk *const last = chunk_;
            chunk_ = last->before;
            left_ += last->size;
            sys::munmap(last, last->size);
        }
        begin();
    }

    template <size_t most> HD_DEVICE AsideText<most> aside(const Text &text) const { return AsideText<most>(text); }

    // A text that is part of what is kept there begins where that does.
    HD_DEVICE void put(KeptText &to, const Text &from) {
        if (__builtin_expect(from.n > to.room, 0)) grow(to, from.n);
        if (from.n && from.from != to.at) __builtin_memcpy(const_cast<char *>(to.at), from.from, from.n);
        to.n = static_cast<uint32_t>(from.n);
    }

    // Pieces behind the first `upto` bytes.
    template <class... Piece> HD_DEVICE void append(KeptText &to, size_t upto, const Piece &...pieces) {
        const uint64_t n = upto + (static_cast<uint64_t>(pieces.size()) + ... + 0);
        if (__builtin_expect(n > to.room, 0)) {
            const char *const old = to.at;
            grow(to, n);
            if (upto) __builtin_memcpy(const_cast<char *>(to.at), old, upto);
        }
        char *end = const_cast<char *>(to.at) + upto;
        ((end = pieces.write(end)), ...);
        to.n = static_cast<uint32_t>(n);
    }

 private:
    struct Chunk {
        Chunk *before;
        uint64_t size;
    };
    static constexpr uint64_t at_once = 1 << 20;

    void begin() {
        next_ = chunk_ ? reinterpret_cast<char *>(chunk_ + 1) : nullptr;
        free_ = chunk_ ? chunk_->size - sizeof(Chunk) : 0;
    }

    HD_NOINLINE void grow(KeptText &to, uint64_t n) {
        uint64_t room = (n > 2 * uint64_t{to.room} ? n : 2 * uint64_t{to.room}) + 7 & ~uint64_t{7};
        if (room > 0xffffffffu) leave(Status::no_room);
        if (room > free_) {
            const uint64_t needed = room + sizeof(Chunk), size = needed > at_once ? needed : at_once < left_ ? at_once : left_;
            Chunk *const made = size < needed || size > left_ ? nullptr : reinterpret_cast<Chunk *>(sys::pages(size));
            if (!made) leave(Status::no_room);
            *made = {chunk_, size};
            left_ -= size;
            chunk_ = made;
            begin();
        }
        to.at = next_;
        to.room = static_cast<uint32_t>(room);
        next_ += room;
        free_ -= room;
    }

    Chunk *chunk_ = nullptr;
    char *next_ = nullptr;
    uint64_t free_ = 0, left_;
};

// The same where all that is kept stays where it is read.
struct TextsInPlace {
    explicit TextsInPlace(uint64_t) {}
    void clear() {}
    template <size_t> HD_DEVICE Text aside(const Text &text) const { return text; }
    HD_DEVICE void put(KeptText &to, const Text &from) const {
        to = {from.from, static_cast<uint32_t>(from.n), 0};
    }
};

}  // namespace hd
