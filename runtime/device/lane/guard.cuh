// What a record has written of the objects whose reads are not all proven (decision 0017): a read of anything else gives the
// task up to the CPU, where an earlier record's bytes may be found.
//
// A Guard keeps this for one object; the open line (Reader) guards itself. The kernel's text calls the functions below with
// the guards that an access may concern. `Strict`: it concerns one of them for certain, so what lies in none is refused.
#pragma once

#include "libc/format.cuh"
#include "lane/lane.cuh"

namespace hd {

constexpr uint32_t guarded_by_mask = 64;  // bytes of an object of which one register has a bit for each

HD_NOINLINE bool all_marked(const uint32_t *words, uint32_t at, uint32_t end) {
    for (; at < end; ++at)
        if (!(words[at / 32] >> at % 32 & 1)) return false;
    return true;
}

HD_NOINLINE void mark(uint32_t *words, uint32_t at, uint32_t end) {
    for (; at < end; ++at) words[at / 32] |= 1u << at % 32;
}

HD_NOINLINE void unmark(uint32_t *words, uint32_t bytes) {
    for (uint32_t i = 0; i < (bytes + 31) / 32; ++i) words[i] = 0;
}

// Of an object of `Bytes` bytes; those from `Limit` on count as written, since no record writes them. `base`: where it lies,
// known where accesses go by address.
template <uint32_t Bytes, uint32_t Limit = Bytes, bool Masked = Bytes <= guarded_by_mask> struct Guard {
    uint64_t written = 0;
    const char *base = nullptr;

    HD_DEVICE void begin(const void *at = nullptr) {
        written = 0;
        base = static_cast<const char *>(at);
    }
    HD_DEVICE bool covers(const void *at) const {
        return static_cast<uint64_t>(static_cast<const char *>(at) - base) < Bytes;
    }
    HD_DEVICE uint64_t offset(const void *at) const { return static_cast<uint64_t>(static_cast<const char *>(at) - base); }
    HD_DEVICE void add(uint64_t at, uint64_t size) {
        if (at < Bytes) written |= bits(at, size);
    }
    HD_DEVICE bool has(uint64_t at, uint64_t size) const {
        if (at > Bytes || size > Bytes - at) return false;
        if (at + size > Limit) size = at < Limit ? Limit - at : 0;
        const uint64_t wanted = size ? bits(at, size) : 0;
        return (written & wanted) == wanted;
    }
    // The bit of one byte (sort.cuh).
    HD_DEVICE void in_bits() {}
    HD_DEVICE bool bit(uint64_t at) const { return written >> at & 1; }
    HD_DEVICE void put_bit(uint64_t at, bool on) {
        written = (written & ~(uint64_t{1} << at)) | static_cast<uint64_t>(on) << at;
    }

 private:
    static HD_DEVICE uint64_t bits(uint64_t at, uint64_t size) {
        return (size < 64 ? (uint64_t{1} << size) - 1 : ~uint64_t{0}) << at;
    }
};

// Of a larger one: [0, end) is written. Where something is written behind `end`, `words` (a bit for each byte) has it.
template <uint32_t Bytes, uint32_t Limit> struct Guard<Bytes, Limit, false> {
    uint32_t end = 0;
    bool apart = false;
    uint32_t *words = nullptr;
    const char *base = nullptr;

    HD_DEVICE void begin(const void *at = nullptr) {
        end = 0;
        apart = false;
        base = static_cast<const char *>(at);
    }
    HD_DEVICE bool covers(const void *at) const { return offset(at) < Bytes; }
    HD_DEVICE uint64_t offset(const void *at) const { return static_cast<uint64_t>(static_cast<const char *>(at) - base); }
    HD_DEVICE void add(uint64_t at, uint64_t size) {
        if (at >= Bytes) return;
        const uint32_t first = static_cast<uint32_t>(at), stop = size > Bytes - at ? Bytes : static_cast<uint32_t>(at + size);
        if (first <= end) {
            if (stop > end) end = stop;
            return;
        }
        if (!apart) unmark(words, Bytes);
        apart = true;
        mark(words, first, stop);
    }
    HD_DEVICE bool has(uint64_t at, uint64_t size) const {
        if (at > Bytes || size > Bytes - at) return false;
        const uint32_t first = static_cast<uint32_t>(at), wanted = static_cast<uint32_t>(at + size);
        const uint32_t stop = wanted < Limit ? wanted : Limit;
        if (stop <= end || first >= stop) return true;
        return apart && all_marked(words, first > end ? first : end, stop);
    }
    // All that is written is in the words, where the bit of a byte can be moved (sort.cuh).
    HD_DEVICE void in_bits() {
        if (!apart) unmark(words, Bytes);
        apart = true;
        mark(words, 0, end);
        end = 0;
    }
    HD_DEVICE bool bit(uint64_t at) const { return words[at / 32] >> at % 32 & 1; }
    HD_DEVICE void put_bit(uint64_t at, bool on) {
        words[at / 32] = (words[at / 32] & ~(1u << at % 32)) | static_cast<uint32_t>(on) << at % 32;
    }
};

// ---- what one guard says of an access: is it this object's, and if so is it written?

enum class Found { elsewhere, written, unwritten };

template <class G> HD_DEVICE Found look(const G &guard, const void *at, uint64_t size) {
    if (!guard.covers(at)) return Found::elsewhere;
    return guard.has(guard.offset(at), size) ? Found::written : Found::unwritten;
}

HD_DEVICE Found look(const Reader &in, const void *at, uint64_t size) {
    if (in.in_record(at, size)) return Found::written;
    return in.in_text(at) ? Found::unwritten : Found::elsewhere;
}

// A string, of which `most` bytes are read at most; with `stop` the bytes up to the first of that value.
template <class G> HD_DEVICE Found look_at_text(const G &guard, const char *at, uint64_t most, int stop = 0) {
    if (!guard.covers(at)) return Found::elsewhere;
    for (uint64_t i = guard.offset(at); most != 0; ++i, --most) {
        if (!guard.has(i, 1)) return Found::unwritten;
        if (guard.base[i] == static_cast<char>(stop)) break;
    }
    return Found::written;
}

HD_DEVICE Found look_at_text(const Reader &in, const char *at, uint64_t most, int stop = 0) {
    if (!in.in_record(at, 1)) return in.in_text(at) ? Found::unwritten : Found::elsewhere;
    if (stop == 0 && in.terminated()) return Found::written;
    for (; most != 0; ++at, --most) {
        if (!in.in_record(at, 1)) return Found::unwritten;
        if (*at == static_cast<char>(stop)) break;
    }
    return Found::written;
}

template <class G> HD_DEVICE Status refusal(const G &) { return Status::unwritten; }
HD_DEVICE Status refusal(const Reader &) { return Status::outside_line; }

template <class L, class G> HD_DEVICE bool accept(L &lane, const G &guard, Found found, uint32_t line) {
    if (found == Found::unwritten) lane.fail(refusal(guard), line);
    return found == Found::written;
}

template <bool Strict, class L> HD_DEVICE void conclude(L &lane, bool known, uint32_t line) {
    if (Strict && !known) lane.fail(Status::unwritten, line);
}

// ---- reads

// A variable or member that stands by its name, `At` bytes into its object.
template <uint32_t At, class L, class G, class T> HD_DEVICE T &named(L &lane, const G &guard, T &what, uint32_t line) {
    if (!guard.has(At, sizeof what)) lane.fail(Status::unwritten, line);
    return what;
}

// The same of a struct: `Parts` are offset and size of each of its members, what lies between them is nobody's.
template <uint32_t At, uint32_t... Parts, class L, class G, class T>
HD_DEVICE T &named_parts(L &lane, const G &guard, T &what, uint32_t line) {
    constexpr uint32_t parts[] = {Parts...};
    for (uint32_t i = 0; i < sizeof...(Parts); i += 2)
        if (!guard.has(At + parts[i], parts[i + 1])) lane.fail(Status::unwritten, line);
    return what;
}

template <bool Strict, class L, class... G>
HD_DEVICE void check_bytes(L &lane, const void *from, uint64_t size, uint32_t line, const G &...guards) {
    if (size == 0) return;
    bool known = false;
    ((known = accept(lane, guards, look(guards, from, size), line) || known), ...);
    conclude<Strict>(lane, known, line);
}

template <bool Strict, class L, class T, class... G>
HD_DEVICE T &guarded(L &lane, T &what, uint32_t line, const G &...guards) {
    check_bytes<Strict>(lane, &what, sizeof what, line, guards...);
    return what;
}

template <bool Strict, uint32_t... Parts, class L, class T, class... G>
HD_DEVICE T &guarded_parts(L &lane, T &what, uint32_t line, const G &...guards) {
    constexpr uint32_t parts[] = {Parts...};
    for (uint32_t i = 0; i < sizeof...(Parts); i += 2)
        check_bytes<Strict>(lane, reinterpret_cast<const char *>(&what) + parts[i], parts[i + 1], line, guards...);
    return what;
}

// A string (null: the callee's business), of at most `most` bytes.
template <bool Strict, class L, class T, class... G>
HD_DEVICE T *guarded_text(L &lane, T *from, uint64_t most, uint32_t line, const G &...guards) {
    if (from == nullptr || most == 0) return from;
    bool known = false;
    const char *const at = reinterpret_cast<const char *>(from);
    ((known = accept(lane, guards, look_at_text(guards, at, most), line) || known), ...);
    conclude<Strict>(lane, known, line);
    return from;
}

constexpr uint64_t whole_text = ~uint64_t{0};

// %.*s: as many bytes as the precision lets through.
template <bool Strict, class L, class... G>
HD_DEVICE PaddedText guarded_str(L &lane, const Spec &how, const char *from, uint32_t line, const G &...guards) {
    const uint64_t most = how.precision < 0 ? whole_text : static_cast<uint64_t>(how.precision);
    return str(how, guarded_text<Strict>(lane, from, most, line, guards...));
}

// memchr: up to the first byte of the value `wanted`.
template <bool Strict, class L, class... G>
HD_DEVICE void check_search(L &lane, const void *from, int wanted, uint64_t most, uint32_t line, const G &...guards) {
    if (most == 0) return;
    bool known = false;
    const char *const at = static_cast<const char *>(from);
    ((known = accept(lane, guards, look_at_text(guards, at, most, wanted), line) || known), ...);
    conclude<Strict>(lane, known, line);
}

template <bool Strict, class L, class... G>
HD_DEVICE const void *guarded_bytes(L &lane, const void *from, uint64_t size, uint32_t line, const G &...guards) {
    check_bytes<Strict>(lane, from, size, line, guards...);
    return from;
}

// ---- writes

template <uint32_t At, class G, class T> HD_DEVICE T &set(G &guard, T &what) {
    guard.add(At, sizeof what);
    return what;
}

template <class... G> HD_DEVICE void wrote_bytes(const void *to, uint64_t size, G &...guards) {
    ((guards.covers(to) ? guards.add(guards.offset(to), size) : void()), ...);
}

template <class T, class... G> HD_DEVICE T &wrote(T &what, G &...guards) {
    wrote_bytes(&what, sizeof what, guards...);
    return what;
}

// A string that a function has put there.
template <class... G> HD_DEVICE void wrote_text(const char *to, G &...guards) {
    if ((guards.covers(to) || ...)) {
        uint64_t size = 1;
        while (to[size - 1]) ++size;
        wrote_bytes(to, size, guards...);
    }
}

// Bytes that snprintf, whose result this is, put into `size`.
HD_DEVICE uint64_t put_by_snprint(int result, uint64_t size) {
    const uint64_t whole = static_cast<uint64_t>(result) + 1;
    return whole < size ? whole : size;
}

// What fgets gave: its bytes and their '\0'.
template <class L, class... G> HD_DEVICE char *filled(L &lane, char *to, G &...guards) {
    if (to != nullptr) wrote_bytes(to, static_cast<uint64_t>(lane.in.filled_end - lane.in.filled), guards...);
    return to;
}

}  // namespace hd
