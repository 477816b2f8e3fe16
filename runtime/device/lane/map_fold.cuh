// Folding inside of the map kernel: a pair whose numbers the combiner folds goes into a table in its block's shared memory, or
// into the one of the launch, and is written nowhere. See steps/fold_table.cuh for the ids of keys.
//
// A long key's text is written once for each block that meets it, into the arena, with a slot that is no pair to anyone else.
// Other blocks read it past their caches, which may hold what was there before.
//
// What finds no place, or does not surely read back as what was printed, is a pair like all others: the host folds those
// behind the launch (hd_fold), together with the table (hd_fold_merge).
#pragma once

#include "lane/sinks.cuh"
#include "libc/format_text.cuh"
#include "steps/fold_table.cuh"
#include "steps/reading.cuh"

namespace hd {

// Of the launch's table by a pair. Few, because the rest can be written; with four places for each key none needs more.
constexpr uint32_t map_fold_probes = 32;
constexpr uint32_t longest_folded_key = 4096;  // bytes
constexpr uint32_t no_slot = 0xffffffffu;

// ---- what the generated text says: how keys are read, what becomes of each number of a value, and where a pair has it

template <KeyReader Reader, uint32_t Longest, bool HasNone = false, uint64_t None = 0> struct FoldKeys {
    static constexpr KeyReader reader = Reader;
    static constexpr uint32_t longest = Longest && Longest < longest_folded_key ? Longest : longest_folded_key;

    // A text of bytes from here on, without the tab and the line end, is a key that reads back.
    static constexpr uint32_t least_byte = Reader == KeyReader::token ? ' ' + 1 : ' ';
    static constexpr bool may_be_empty = Reader != KeyReader::token;

    // Does a key of this piece read back, but for its bytes?
    template <class Piece> static HD_DEVICE bool reads_back(const Piece &) {
        static_assert(Reader <= KeyReader::field, "keys that are read as numbers are printed as such");
        return true;
    }
    static HD_DEVICE bool reads_back(const Decimal &key) {
        if (Reader <= KeyReader::field) return true;
        const uint32_t number = static_cast<uint32_t>(Reader) - static_cast<uint32_t>(KeyReader::field);
        const NumberRange range = range_of(static_cast<ValueReader>(number));
        if (key.magnitude > (key.negative ? range.below : range.above)) return false;
        return !HasNone || (key.negative ? 0 - key.magnitude : key.magnitude) != None;
    }
};

template <FoldOp Op, ValueReader Reader> struct FoldField {
    static constexpr FoldOp op = Op;
    static constexpr ValueReader reader = Reader;
    static constexpr bool wide = Reader == ValueReader::int64 || Reader == ValueReader::uint64;
};

// A number of a pair: the printed piece of this number, or a constant of the text.
template <uint32_t At> struct PieceAt {
    template <class First, class... More> static HD_DEVICE const auto &of(const First &first, const More &...more) {
        if constexpr (At == 0) return first;
        else return PieceAt<At - 1>::of(more...);
    }
};

struct Printed {
    uint64_t magnitude;
    bool negative;
};

template <uint64_t Magnitude, bool Negative = false> struct Constant {
    template <class... Piece> static HD_DEVICE Printed of(const Piece &...) { return {Magnitude, Negative}; }
};

// ---- a block's table

template <bool Wide> struct BlockWord {
    FoldWord word;

    HD_DEVICE void start(FoldOp op) { word.whole = identity(op); }
    HD_DEVICE void fold(FoldOp op, ValueReader reader, uint64_t number) { fold_into_block(word, op, reader, number); }
    HD_DEVICE uint64_t number() const { return word.whole; }
};

template <> struct BlockWord<false> {
    unsigned int word;

    HD_DEVICE void start(FoldOp op) { word = static_cast<unsigned int>(identity(op)); }
    HD_DEVICE void fold(FoldOp op, ValueReader, uint64_t number) { fold_number(&word, op, static_cast<unsigned int>(number)); }
    HD_DEVICE uint64_t number() const { return word; }
};

template <uint32_t Places, class... Fields> struct FoldColumns;

template <uint32_t Places> struct FoldColumns<Places> {
    HD_DEVICE void start(uint32_t) {}
    HD_DEVICE void fold(uint32_t, const uint64_t *) {}
    HD_DEVICE void read(uint32_t, uint64_t *) const {}
    static HD_DEVICE void fold_all(unsigned long long *, const uint64_t *) {}
};

template <uint32_t Places, class Field, class... More> struct FoldColumns<Places, Field, More...> {
    BlockWord<Field::wide> words[Places];
    FoldColumns<Places, More...> more;

    HD_DEVICE void start(uint32_t place) {
        words[place].start(Field::op);
        more.start(place);
    }
    HD_DEVICE void fold(uint32_t place, const uint64_t *numbers) {
        words[place].fold(Field::op, Field::reader, *numbers);
        more.fold(place, numbers + 1);
    }
    HD_DEVICE void read(uint32_t place, uint64_t *numbers) const {
        *numbers = words[place].number();
        more.read(place, numbers + 1);
    }
    // Into the launch's table.
    static HD_DEVICE void fold_all(unsigned long long *values, const uint64_t *numbers) {
        fold_into(values, Field::op, Field::reader, *numbers);
        FoldColumns<Places, More...>::fold_all(values + 1, numbers + 1);
    }
};

// ---- keys

// The first `size` (1 to 8) bytes at `at` in the order of memory, zeros behind them, by the aligned words that hold them.
HD_DEVICE uint64_t text_word(const char *at, uint32_t size) {
    const uint32_t skipped = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(at) & 3), reach = skipped + size;
    const char *const from = at - skipped;
    const uint32_t w0 = aligned_word(from), w1 = reach > 4 ? aligned_word(from + 4) : 0;
    const uint32_t w2 = reach > 8 ? aligned_word(from + 8) : 0;
    const uint64_t word = static_cast<uint64_t>(Words::join(w1, w2, skipped * 8)) << 32 | Words::join(w0, w1, skipped * 8);
    return size < 8 ? word & ~(~0ull << size * 8) : word;
}

// A key that is looked for. `slot`: where its text has been written, if it has.
struct MapKey {
    const char *text;
    uint32_t length;
    uint32_t slot;
    FoldKey key;

    HD_DEVICE bool is_short() const { return length <= short_key; }
    HD_DEVICE uint64_t word(uint32_t at) const { return text_word(text + at, smaller(length - at, 8)); }
};

// A key is read by words: an array of the program's, mostly, that was written byte by byte. False where some byte is below
// `least`.
HD_DEVICE bool hash_key(MapKey &key, uint32_t least) {
    uint64_t hash = key.length, bytes = 0;
    bool plain = true;
    for (uint32_t at = 0; at < key.length; at += 8) {
        const uint32_t size = smaller(key.length - at, 8);
        const uint64_t word = text_word(key.text + at, size), behind = size < 8 ? ~0ull << size * 8 : 0;
        plain &= (((word | behind) - every_byte * least) & ~(word | behind) & top_bits) == 0;
        bytes = static_cast<uint64_t>(swap_bytes(static_cast<uint32_t>(word))) << 32 | swap_bytes(static_cast<uint32_t>(word >> 32));
        hash = mixed(hash ^ bytes);
    }
    if (key.is_short()) key.key = short_fold_key(bytes, key.length);
    else key.key = long_fold_key(hash, 0);
    return plain;
}

// A word that other blocks may have written (`Own`: the lane's own block alone, so that caches have what it wrote).
template <bool Own> HD_DEVICE uint64_t key_word(unsigned long long *word) {
#ifdef __CUDACC__
    if (Own) return *word;
#endif
    return peek_word(word);
}

// Is this long key the one in a slot of the launch's store?
template <bool Own> HD_DEVICE bool is_in_slot(const Task &task, const MapKey &key, uint32_t slot) {
    unsigned long long *const words = reinterpret_cast<unsigned long long *>(task.out.pairs + slot);
    if (static_cast<uint32_t>(key_word<Own>(words + 1) >> 32) != key.length) return false;
    unsigned long long *const text = reinterpret_cast<unsigned long long *>(task.out.arena + key_word<Own>(words));
    for (uint32_t at = 0; at < key.length; at += 8)
        if (key_word<Own>(text + at / 8) != key.word(at)) return false;
    return true;
}

template <bool Own> HD_DEVICE bool is_key(const Task &task, const MapKey &key, uint64_t there) {
    if (key.is_short()) return there == key.key.id;
    const uint64_t compared = 0xffffffull << 40 | 0xff;  // hash and tag
    return (there & compared) == (key.key.id & compared) && is_in_slot<Own>(task, key, slot_of(there));
}

HD_NOINLINE uint32_t write_key(BlockCursor sink, const Task &task, uint32_t item, const char *key, uint32_t length) {
    char *const to = sink.text(task, item, length);
    for (uint32_t at = 0; at < length; at += 8) *reinterpret_cast<uint64_t *>(to + at) = text_word(key + at, smaller(length - at, 8));
    Pair *const slot = sink.slot(task, item);
    uint64_t *const words = reinterpret_cast<uint64_t *>(slot);
    words[0] = static_cast<uint64_t>(to - task.out.arena);
    words[1] = static_cast<uint64_t>(length) << 32 | no_pair;
    words[2] = 0;
    return static_cast<uint32_t>(slot - task.out.pairs);
}

// The place of a key in a table, claimed if need be; nowhere_in_table after so many probes. `Own`: the block's.
template <bool Own, class Claimed>
HD_DEVICE uint32_t map_place(const Task &task, BlockCursor &sink, uint32_t item, unsigned long long *ids, uint32_t mask,
                             uint32_t probes, MapKey &key, Claimed claimed) {
    for (uint32_t probe = 0; probe < probes; ++probe) {
        const uint32_t place = static_cast<uint32_t>(key.key.hash + probe) & mask;
        unsigned long long there = peek_word(&ids[place]);
        if (there == 0) {
            if (!key.is_short()) {
                if (key.slot == no_slot) key.slot = write_key(sink, task, item, key.text, key.length);
                key.key.id = (key.key.id & ~(0xffffffffull << 8)) | static_cast<uint64_t>(key.slot) << 8;
                __threadfence();  // who sees the id sees the text
            }
            there = atomicCAS(&ids[place], 0ull, static_cast<unsigned long long>(key.key.id));
            if (there == 0) {
                claimed();
                return place;
            }
        }
        if (is_key<Own>(task, key, there)) return place;
    }
    return nowhere_in_table;
}

// ---- the lane's part

// Counts lines that are written all the same.
struct CountingCursor : BlockCursor {
    uint32_t lines = 0;

    HD_DEVICE Pair *slot(const Task &task, uint32_t item) {
        ++lines;
        return BlockCursor::slot(task, item);
    }
};

template <uint32_t Places, class Keys, class... Fields> struct MapFold {
    static constexpr uint32_t count = sizeof...(Fields);

    struct Block {
        unsigned long long ids[Places];
        FoldColumns<Places, Fields...> columns;
        Halves pairs, bytes;
        unsigned int lines, claimed;
    };

    uint64_t bytes = 0;  // of the folded pairs, as Hadoop counts them
    uint32_t pairs = 0, claimed = 0;

    // By all threads, before a barrier.
    static HD_DEVICE void start(const Task &task) {
        if (!task.fold.ids) return;
        Block &b = block();
        for (uint32_t i = threadIdx.x; i < Places; i += blockDim.x) {
            b.ids[i] = 0;
            b.columns.start(i);
        }
        if (threadIdx.x == 0) {
            b.pairs = b.bytes = {0, 0};
            b.lines = b.claimed = 0;
        }
    }

    // A line of `size` bytes, its end included: key, tab, numbers. False: it was not folded.
    template <class Piece, class... Number>
    HD_DEVICE bool add(BlockCursor &sink, const Task &task, uint32_t item, uint64_t size, const Piece &piece,
                       const Number &...numbers) {
        static_assert(sizeof...(Number) == count, "as many numbers as the fold has");
        char buffer[short_text];
        MapKey key{nullptr, 0, no_slot, {0, 0}};
        if (size > task.fold.longest_line || !Keys::reads_back(piece) || !(fits<Fields>(numbers) && ...)) return false;
        if (!text_of(key, piece, buffer) || (key.length == 0 && !Keys::may_be_empty)) return false;
        if (!hash_key(key, Keys::least_byte)) return false;
        const uint64_t ready[] = {number_of<Fields>(numbers)...};
        Block &b = block();
        uint32_t place = map_place<true>(task, sink, item, b.ids, Places - 1, fold_block_probes, key, [] {});
        if (place != nowhere_in_table) {
            b.columns.fold(place, ready);
        } else {
            place = map_place<false>(task, sink, item, task.fold.ids, task.fold.mask, map_fold_probes, key, [&] { ++claimed; });
            if (place == nowhere_in_table) return false;
            fold_into_launch(task, place, ready);
        }
        ++pairs;
        bytes += text_size(key.length) + text_size(static_cast<uint32_t>(size) - key.length - 2);
        return true;
    }

    // By all threads that are left, behind their last items: what the block's table holds goes to the one of the launch.
    HD_DEVICE void close(CountingCursor &sink, const Task &task) {
        if (!task.fold.ids) return;
        __syncthreads();
        Block &b = block();
        for (uint32_t i = threadIdx.x; i < Places; i += blockDim.x) flush(sink, task, i);
        b.pairs.add(pairs);
        b.bytes.add(bytes);
        if (sink.lines) atomicAdd(&b.lines, sink.lines);
        if (claimed) atomicAdd(&b.claimed, claimed);
        __syncthreads();
        if (threadIdx.x != 0) return;
        MapFoldWords &words = *task.fold.words;
        atomicAdd(&words.pairs, static_cast<unsigned long long>(b.pairs.whole()));
        atomicAdd(&words.bytes, static_cast<unsigned long long>(b.bytes.whole()));
        if (b.lines) atomicAdd(&words.lines, static_cast<unsigned long long>(b.lines));
        if (b.claimed) atomicAdd(&words.distinct, static_cast<unsigned long long>(b.claimed));
    }

 private:
    static HD_DEVICE Block &block() {
        HD_SHARED(Block, fold_of_block);
        return fold_of_block;
    }

    template <class Field, class Number> static HD_DEVICE bool fits(const Number &number) {
        const NumberRange range = range_of(Field::reader);
        return number.magnitude <= (number.negative ? range.below : range.above);
    }

    template <class Field, class Number> static HD_DEVICE uint64_t number_of(const Number &number) {
        return ordered(Field::op, Field::reader, number.negative ? 0 - number.magnitude : number.magnitude);
    }

    // Where a key's text lies; false: it is too long.
    static HD_DEVICE bool text_of(MapKey &key, const Text &piece, char *) {
        key.text = piece.from;
        key.length = static_cast<uint32_t>(piece.n);
        return piece.n <= Keys::longest;
    }
    template <class Piece> static HD_DEVICE bool text_of(MapKey &key, const Piece &piece, char *buffer) {
        const size_t size = piece.size();
        if (size > short_text || size > Keys::longest) return false;
        piece.write(buffer);
        key.text = buffer;
        key.length = static_cast<uint32_t>(size);
        return true;
    }

    static HD_DEVICE void fold_into_launch(const Task &task, uint64_t place, const uint64_t *numbers) {
        FoldColumns<Places, Fields...>::fold_all(task.fold.values + place * count, numbers);
    }

    HD_DEVICE void flush(BlockCursor &sink, const Task &task, uint32_t i) {
        const Block &b = block();
        const uint64_t id = b.ids[i];
        if (id == 0) return;
        uint64_t numbers[count];
        b.columns.read(i, numbers);
        const KeySlots slots{task.out.arena, task.out.pairs};
        MapKey key{nullptr, static_cast<uint32_t>(id & 0xff) - 1, no_slot, fold_key_of(slots, id)};
        if (is_long(id)) {
            const Key text = slots.key(slot_of(id));
            key = {text.bytes, text.length, slot_of(id), key.key};
        }
        const uint32_t place =
            map_place<false>(task, sink, 0, task.fold.ids, task.fold.mask, fold_probes, key, [&] { ++claimed; });
        if (place != nowhere_in_table) fold_into_launch(task, place, numbers);
        else spill(task, id, numbers);
    }

    // Behind the table.
    static HD_DEVICE void spill(const Task &task, uint64_t id, const uint64_t *numbers) {
        const uint64_t at = atomicAdd(&task.fold.words->spilled, 1ull);
        if (at >= task.fold.spill) fail(task.failure, 0, Status::unsupported, 0);
        const uint64_t place = task.fold.mask + 1ull + at;
        task.fold.ids[place] = id;
        for (uint32_t field = 0; field < count; ++field) task.fold.values[place * count + field] = numbers[field];
    }
};

}  // namespace hd
