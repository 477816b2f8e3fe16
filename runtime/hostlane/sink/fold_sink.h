// Where a host kernel's pairs go: into a table, where the combiner's step is done to what is kept of the key.
//
// A pair that is printed as the combiner reads it, key, tab, numbers, with nothing else between, is taken without being put
// together as text. All else is, and cut and read as the collector and the combiner do it. `Fold` is the combiner
// (compiler/emit/host.py):
//
//   struct Values { T v0; ... };  what a value is read as: `fields` numbers, with the texts between(i) behind the i-th
//   struct State { ... };         what is kept of a key
//   static bool take(Values &, const Number &...)                              from numbers, Decimal, Significant or Real,
//   static bool read(Values &, ValueText &)                                    or a text, as far as they read back
//   static void first(State &, const Values &, Texts &), same(...)             after a key's first pair, and another one
//   static bool finish(const State &, Text key, Output &)   prints the key's line; false: it has none
//   key                           a KeyRule.   regroup: its lines may be combined again.
//   texts                         does it keep texts of values? Then `fields` is 0: what is printed is put together, and read.
//
// The same program prints the pairs as text where nothing is to be combined (`as_text`).
#pragma once

#include "sink/fold_table.h"
#include "sink/key_rule.cuh"
#include "sink/significant.h"
#include "sink/text_sink.h"
#include "sink/value_text.h"

namespace hd {

// Bytes of a Text as Hadoop's Writable has it, vint length and bytes: MAP_OUTPUT_BYTES counts these.
HD_DEVICE uint64_t writable_bytes(uint64_t n) { return n + (n <= 127 ? 1 : 1 + (71 - static_cast<uint64_t>(leading_zeros(n))) / 8); }

// Digits of a number, most of which are short.
HD_DEVICE uint64_t printed_bytes(const Decimal &number) {
    const uint64_t m = number.magnitude;
    if (__builtin_expect(m < 10000, 1)) return static_cast<uint64_t>(1 + number.negative + (m >= 10) + (m >= 100) + (m >= 1000));
    return static_cast<uint64_t>(decimal_length(m) + number.negative);
}
template <class Number> HD_DEVICE uint64_t printed_bytes(const Number &number) { return number.size(); }

// ---- pieces by number, and what they are

template <unsigned i, class First, class... Rest> HD_DEVICE const auto &nth(const First &first, const Rest &...rest) {
    if constexpr (i == 0)
        return first;
    else
        return nth<i - 1>(rest...);
}

enum class PieceKind : char { literal, text, number, other };
template <class Piece> constexpr PieceKind kind_of = PieceKind::other;
template <> constexpr PieceKind kind_of<Literal> = PieceKind::literal;
template <> constexpr PieceKind kind_of<Text> = PieceKind::text;
template <> constexpr PieceKind kind_of<Decimal> = PieceKind::number;
template <> constexpr PieceKind kind_of<Significant> = PieceKind::number;
template <> constexpr PieceKind kind_of<Real> = PieceKind::number;

// Are the last pieces those of a value of `fields` numbers: a literal, number, literal, ..., number, literal?
template <class... Piece> constexpr bool ends_in_value(unsigned fields) {
    const PieceKind kinds[] = {kind_of<Piece>..., PieceKind::other};
    const unsigned n = sizeof...(Piece), tail = 2 * fields + 1;
    if (fields == 0 || n < tail) return false;
    for (unsigned i = 0; i < tail; ++i)
        if (kinds[n - tail + i] != (i % 2 ? PieceKind::number : PieceKind::literal)) return false;
    return true;
}

// The numbers from 0 on, as many.
template <unsigned... i> struct Places {};
template <unsigned count, unsigned... i> struct PlacesBelow : PlacesBelow<count - 1, count - 1, i...> {};
template <unsigned... i> struct PlacesBelow<0, i...> {
    using All = Places<i...>;
};

template <class Fold> class FoldSink {
 public:
    FoldSink() : table_(table_bytes() / (Fold::texts ? 2 : 1)), texts_(table_bytes() / 2) {}

    // Is there text that waits for the end of its line?
    bool waits() const { return length_ != 0; }

    template <class... Piece> HD_DEVICE void print(const Piece &...pieces) {
        if (__builtin_expect(as_text, 0)) return print_apart(pieces...);
        if constexpr (ends_in_value<Piece...>(Fold::fields))
            if (__builtin_expect(length_ == 0, 1) && print_typed(pieces...)) return;
        print_text(pieces...);
    }

    // After the last record: all lines.
    void finish() {
        if (as_text) return text_.finish();
        add_waiting();
        Output out(1);
        empty_into(out);
    }

    void report(Report &to) const {
        if (as_text) return text_.report(to);
        to.add("pairs", pairs_);
        to.add("bytes", bytes_);
        to.add("keys", keys_);
        to.add("partial", partial_);
        to.add("longest", longest_);
    }

 private:
    using Values = typename Fold::Values;
    static constexpr uint64_t longest_made_key = 256;

    template <class... Piece> HD_NOINLINE void print_apart(const Piece &...pieces) { text_.print(pieces...); }

    // ---- a pair that is printed as it is read

    template <class... Piece> HD_DEVICE bool print_typed(const Piece &...pieces) {
        constexpr unsigned head = sizeof...(Piece) - (2 * Fold::fields + 1);  // pieces before the literal with the tab
        const Literal &tab = nth<head>(pieces...);
        if (tab.n == 0 || tab.from[tab.n - 1] != '\t') return false;
        uint64_t value_bytes = 0;
        Values values;
        if (!are_between<0, head>(value_bytes, pieces...)) return false;
        if (__builtin_expect(!take_numbers<head>(values, typename PlacesBelow<Fold::fields>::All{}, pieces...), 0)) return false;
        if constexpr (head == 1 && kind_of<std::decay_t<decltype(nth<0>(pieces...))>> == PieceKind::text)
            if (tab.n == 1) return add_typed(nth<0>(pieces...), values, value_bytes);
        char text[longest_made_key];
        uint64_t n = tab.n - 1;
        size_before<head>(n, pieces...);
        if (n > longest_made_key) return false;
        char *end = text;
        write_before<head>(end, pieces...);
        hd::memcpy(end, tab.from, tab.n - 1);
        if (__builtin_expect(table_.is_large(), 0) && holds_lines(text, n)) return false;
        return add_typed(Text{text, n}, values, value_bytes);
    }

    // Behind each number, from field i on, stands what is read there? Adds up the value's bytes.
    template <unsigned i, unsigned head, class... Piece>
    static HD_DEVICE bool are_between(uint64_t &bytes, const Piece &...pieces) {
        if constexpr (i == Fold::fields) {
            return true;
        } else {
            const Literal &behind = nth<head + 2 + 2 * i>(pieces...);
            constexpr Literal wanted = Fold::behind(i);
            if (behind.n != wanted.n || __builtin_memcmp(behind.from, wanted.from, wanted.n) != 0) return false;
            bytes += printed_bytes(nth<head + 1 + 2 * i>(pieces...)) + (i + 1 == Fold::fields ? 0 : wanted.n);
            return are_between<i + 1, head>(bytes, pieces...);
        }
    }

    template <unsigned head, unsigned... i, class... Piece>
    static HD_DEVICE bool take_numbers(Values &values, Places<i...>, const Piece &...pieces) {
        return Fold::take(values, nth<head + 1 + 2 * i>(pieces...)...);
    }

    template <unsigned count, class First, class... Rest>
    static HD_DEVICE void size_before(uint64_t &n, const First &first, const Rest &...rest) {
        if constexpr (count != 0) {
            n += first.size();
            size_before<count - 1>(n, rest...);
        }
    }
    template <unsigned count, class First, class... Rest>
    static HD_DEVICE void write_before(char *&end, const First &first, const Rest &...rest) {
        if constexpr (count != 0) {
            end = first.write(end);
            write_before<count - 1>(end, rest...);
        }
    }

    // False where the key is new and is not read back as it was printed: its text says what is the pair.
    HD_DEVICE bool add_typed(const Text &key, const Values &values, uint64_t value_bytes) {
        const bool added = __builtin_expect(table_.is_large(), 0) ? add_to_large(key, values) : add(key, values);
        if (__builtin_expect(!added, 0)) return false;
        count(key.n, value_bytes, key.n + value_bytes + 1);
        return true;
    }

    // ---- pairs that wait while their slots come from memory. All of a key do, or none: its length says which.

    HD_NOINLINE bool add_to_large(Text key, Values values) {
        if (__builtin_expect(key.n > short_key, 0)) return add(key, values);
        wait(key_words(key.from, key.n), values);
        return true;
    }

    // Is what was put together as a key the lines before the last one, too?
    static HD_NOINLINE bool holds_lines(const char *text, uint64_t n) {
        return hd::memchr(text, '\n', n) || hd::memchr(text, '\t', n);
    }

    struct Waiting {
        KeyWords words;
        uint64_t hash, record;
        Values values;
    };

    HD_DEVICE void wait(const KeyWords &words, const Values &values) {
        const uint64_t hash = hash_of(words);
        table_.prefetch(hash);
        waiting_[n_waiting_++] = {words, hash, record_number, values};
        if (__builtin_expect(n_waiting_ == most_waiting, 0)) add_waiting();
    }

    HD_NOINLINE void add_waiting() {
        const uint64_t now = record_number;
        for (unsigned i = 0; i < n_waiting_; ++i) {
            const Waiting &pair = waiting_[i];
            record_number = pair.record;  // of which it is said, where it leaves the task
            auto *const slot = table_.find(pair.words, pair.hash, nullptr);
            if (__builtin_expect(slot->length != 0, 1))
                Fold::same(slot->state, pair.values, texts_);
            else
                add_new_waiting(pair);
        }
        n_waiting_ = 0;
        record_number = now;
    }

    // A string that does not read back would be cut at its tab or line end, which leaves hardly a value that does.
    HD_NOINLINE void add_new_waiting(const Waiting &pair) {
        char text[short_key];
        __builtin_memcpy(text, &pair.words, short_key);
        if (add_new(Text{text, pair.words.length}, pair.values)) return;
        leave(hd::memchr(text, '\r', pair.words.length) ? Status::carriage_return : Status::unreadable);
    }

    // ---- any pair

    template <class... Piece> HD_NOINLINE void print_text(const Piece &...pieces) {
        const uint64_t size = (static_cast<uint64_t>(pieces.size()) + ... + 0);
        if (size == 0) return;
        char *end = line_for(size);
        ((end = pieces.write(end)), ...);
        length_ += size;
        cut_lines(size);
    }

    // Room for `size` bytes behind the text that waits.
    char *line_for(uint64_t size) {
        if (size > 0x7fffffffu) leave(Status::unsupported);
        const uint64_t needed = length_ + size;
        if (needed > line_size_) {
            uint64_t wished = line_size_ ? 2 * line_size_ : 1 << 12;
            while (wished < needed) wished *= 2;
            char *const larger = sys::pages(wished);
            if (!larger) leave(Status::no_room);
            if (length_) __builtin_memcpy(larger, line_, length_);
            if (line_) sys::munmap(line_, line_size_);
            line_ = larger;
            line_size_ = wished;
        }
        return line_ + length_;
    }

    // Of the text that waits the last `fresh` bytes are new.
    void cut_lines(uint64_t fresh) {
        char *const added = line_ + length_ - fresh;
        if (hd::memchr(added, '\r', fresh)) leave(Status::carriage_return);
        const char *start = line_, *const end = line_ + length_;
        for (const char *from = added; from != end;) {
            const char *const stop = static_cast<const char *>(hd::memchr(from, '\n', static_cast<size_t>(end - from)));
            if (!stop) break;
            add_line(start, stop);
            start = from = stop + 1;
        }
        length_ = static_cast<uint64_t>(end - start);
        if (length_ && start != line_) __builtin_memmove(line_, start, length_);
    }

    void add_line(const char *start, const char *stop) {
        const char *const tab = static_cast<const char *>(hd::memchr(start, '\t', static_cast<size_t>(stop - start)));
        const Text key = {start, static_cast<size_t>((tab ? tab : stop) - start)};
        ValueText value = {tab ? tab + 1 : stop, stop};
        add_waiting();
        const uint64_t value_bytes = static_cast<uint64_t>(stop - value.at);
        Values values;
        if (!Fold::read(values, value) || !add(key, values)) leave(Status::unreadable);
        count(key.n, value_bytes, static_cast<uint64_t>(stop - start));
    }

    HD_DEVICE void count(uint64_t key, uint64_t value, uint64_t line) {
        ++pairs_;
        bytes_ += writable_bytes(key) + writable_bytes(value);
        if (__builtin_expect(line > longest_, 0)) longest_ = line;
    }

    // ---- the table

    HD_DEVICE bool add(const Text &key, const Values &values) {
        const KeyWords words = key_words(key.from, key.n);
        auto *const slot = table_.find(words, key.from);
        if (__builtin_expect(slot->length == 0, 0)) return add_new(key, values);
        Fold::same(slot->state, values, texts_);
        return true;
    }

    HD_NOINLINE bool add_new(Text key, Values values) {
        if (!Fold::key.accepts(key.from, key.n)) return false;
        if (!table_.make_room(key.n)) {
            print_early();
            if (!table_.make_room(key.n)) leave(Status::no_room);
        }
        const KeyWords words = key_words(key.from, key.n);
        auto *const slot = table_.find(words, key.from);
        if (!table_.take(slot, words, key.from)) leave(Status::no_room);
        Fold::first(slot->state, values, texts_);
        return true;
    }

    // Prints what there is and begins anew, where such lines may be combined again.
    void print_early() {
        if (!Fold::regroup) leave(Status::no_room);
        Output out(1);
        empty_into(out);
        partial_ = true;
    }

    void empty_into(Output &out) {
        table_.each([&](const Text &key, const typename Fold::State &state) { keys_ += Fold::finish(state, key, out); });
        table_.clear();
        out.flush();
    }

    // HETERODOOP_HOST_KERNEL_BYTES, of tests; else 256 MiB.
    static uint64_t table_bytes() {
        const char *const wished = sys::getenv("HETERODOOP_HOST_KERNEL_BYTES");
        ValueText text = {wished, wished + (wished ? hd::strlen(wished) : 0)};
        uint64_t number;
        return wished && text.number(number) && text.at_end() && number != 0 ? number : uint64_t{256} << 20;
    }

    FoldTable<typename Fold::State> table_;
    TextRoom texts_;
    TextSink text_;
    uint64_t pairs_ = 0, bytes_ = 0, longest_ = 0, keys_ = 0;
    bool partial_ = false;
    static constexpr unsigned most_waiting = 32;
    Waiting waiting_[most_waiting];
    unsigned n_waiting_ = 0;
    char *line_ = nullptr;  // text that waits for the end of its line
    uint64_t length_ = 0, line_size_ = 0;
};

}  // namespace hd
