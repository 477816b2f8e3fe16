// Where what a map prints goes as it stands: to standard output, as a filter's does, for a map without a combiner whose work is
// done here. Whoever reads it cuts it into pairs, so a line may be printed by several records.
#pragma once

#include "leave.h"

namespace hd {

class TextSink {
 public:
    TextSink() = default;
    TextSink(const TextSink &) = delete;
    TextSink &operator=(const TextSink &) = delete;

    template <class... Piece> HD_DEVICE void print(const Piece &...pieces) {
        if constexpr (sizeof...(Piece) != 0) {
            bytes_ += (static_cast<uint64_t>(pieces.size()) + ... + 0);
            out_.put_all(pieces...);
        }
    }

    // Does a line have to end before the record does?
    static constexpr bool waits() { return false; }

    void finish() { out_.flush(); }
    void report(Report &to) const { to.add("text", bytes_); }

 private:
    Output out_{1};
    uint64_t bytes_ = 0;
};

}  // namespace hd
