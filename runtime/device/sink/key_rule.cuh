// Which keys a combiner reads back as they were printed (manifest.PairReader; runtime/host/collect/pair_check.cpp has the same
// rules). Each key is looked at once, when it is new.
#pragma once

#include "sink/numbers.cuh"

namespace hd {

struct KeyRule {
    enum Kind { token, field, int32, int64, uint32, uint64 };
    Kind kind;
    uint64_t most;  // bytes; 0: any
    bool empty;     // a field may be
    bool has_none;
    uint64_t none;  // a number that no key may be, in two's complement

    HD_DEVICE bool accepts(const char *key, size_t n) const {
        if (most && n > most) return false;
        if (n == 0) return kind == field && empty;
        switch (kind) {
            case token: return plain(key, n, true);
            case field: return plain(key, n, false);
            case int32: return reads_as<int32_t>(key, n);
            case int64: return reads_as<int64_t>(key, n);
            case uint32: return reads_as<uint32_t>(key, n);
            case uint64: return reads_as<uint64_t>(key, n);
        }
        return false;
    }

 private:
    // No NUL, no tab, no line end; of a token no white space.
    static HD_DEVICE bool plain(const char *key, size_t n, bool is_token) {
        for (size_t i = 0; i < n; ++i) {
            const char c = key[i];
            if (c == 0 || c == '\t' || c == '\n' || c == '\r' || (is_token && (c == ' ' || c == '\v' || c == '\f'))) return false;
        }
        return true;
    }

    // Two texts of one number are two keys to the sort: only printf's form will do.
    template <class T> HD_DEVICE bool reads_as(const char *key, size_t n) const {
        T number;
        ValueText text{key, key + n};
        if (!text.number(number) || !text.at_end()) return false;
        const char *const digits = key + (*key == '-');
        if (*digits == '0' && n > 1) return false;
        return !(has_none && static_cast<uint64_t>(number) == none);
    }
};

}  // namespace hd
