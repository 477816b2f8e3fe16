// What the program prints on stderr: kept until all is done, since a task that is left is done again, with its own.
#pragma once

#include "leave.h"

namespace hd {

class Errors {
 public:
    template <class Piece> void put(const Piece &piece) {
        const size_t n = piece.size();
        if (n > most - used_) leave(Status::no_room);
        if (!text_ && !(text_ = sys::pages(most))) leave(Status::no_room);
        piece.write(text_ + used_);
        used_ += n;
    }

    void print() const {
        if (!used_) return;
        Output out(2);
        out.put(bytes(text_, used_));
        out.flush();
    }

 private:
    static constexpr size_t most = 1 << 20;
    char *text_ = nullptr;
    size_t used_ = 0;
};

inline Errors errors;

}  // namespace hd
