// Bytes to a descriptor, by large writes.
#pragma once

#include "libc/format_text.cuh"
#include "system.h"

namespace hd {

constexpr int broken_status = 91;  // of the process: a descriptor that cannot be read or written, or no memory

class Output {
 public:
    explicit Output(int descriptor) : descriptor_(descriptor) {}
    Output(const Output &) = delete;
    Output &operator=(const Output &) = delete;

    // A piece (libc/format.cuh) of any length.
    template <class Piece> void put(const Piece &piece) {
        const size_t n = piece.size();
        if (n > sizeof bytes_ - used_) flush();
        if (n > sizeof bytes_) return put_apart(piece, n);
        piece.write(bytes_ + used_);
        used_ += n;
    }

    // Pieces one behind the other.
    template <class... Piece> HD_DEVICE void put_all(const Piece &...pieces) {
        const size_t n = (static_cast<size_t>(pieces.size()) + ... + 0);
        if (__builtin_expect(n > sizeof bytes_ - used_, 0)) return (put(pieces), ...);
        char *end = bytes_ + used_;
        ((end = pieces.write(end)), ...);
        used_ += n;
    }

    // Bytes of any number, which are not copied.
    void put_bytes(const void *from, size_t n) {
        flush();
        write_all(static_cast<const char *>(from), n);
    }

    void flush() {
        write_all(bytes_, used_);
        used_ = 0;
    }

 private:
    template <class Piece> HD_NOINLINE void put_apart(const Piece &piece, size_t n) {
        char *const text = sys::pages(n);
        if (!text) sys::_exit(broken_status);
        piece.write(text);
        write_all(text, n);
        sys::munmap(text, n);
    }

    HD_NOINLINE void write_all(const char *text, size_t n) {
        while (n) {
            const long written = sys::write(descriptor_, text, n);
            if (written < 0 && sys::again()) continue;
            if (written < 0) sys::_exit(broken_status);
            text += written;
            n -= static_cast<size_t>(written);
        }
    }

    int descriptor_;
    size_t used_ = 0;
    char bytes_[1 << 16];
};

}  // namespace hd
