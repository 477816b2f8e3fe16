// The kernels of a combiner that is an ordered key loop, made of its steps. `Fold` is what compiler/emit/ordered.py writes:
//
//   struct Values { T v0; ... };  what a value is read as
//   struct State { ... };         what is kept of a key: at most 8 bytes a variable, 16 of a text, of which it has
//   text_bytes                    behind it, and
//   place(State &, char *)        tells it where those are
//   read(Values &, ValueText &)   from a text, as far as it reads back
//   first(State &, const Values &, L &leaving), same(...)  after a key's first pair, and another one; where texts are kept,
//                                 with OrderedTexts at the end
//   finish(const State &, Text key, Out &, L &leaving)     prints the key's line; false: it has none
//   put(Columns, i, const Values &), get(Columns, i, Values &)
//   ask(const Values &)           for the texts that these lead to
//   key_rule()                    which keys read back.   leaves: a step may end the thread, not only note why the task is given up
//
// See sink/ordered.h for what each kernel does and when.
#pragma once

#include "lane/failure.cuh"
#include "libc/wrap.cuh"
#include "sink/key_hash.cuh"
#include "sink/key_rule.cuh"
#include "sink/ordered_texts.cuh"
#include "steps/reading.cuh"

namespace hd {

// What gives the task up where a key's line is printed.
struct LineLeaving {
    OrderedWords *words;

    [[noreturn]] HD_DEVICE void fail(Status status, uint32_t line = 0) const { hd::fail(&words->failure, no_item, status, line); }
};

// What gives the task up in the step of a pair.
struct StepLeaving {
    const ChainArgs &args;
    uint64_t pair;

    HD_DEVICE uint32_t item() const { return args.pairs[args.slots[args.of[pair]]].item; }
    [[noreturn]] HD_DEVICE void fail(Status status, uint32_t line = 0) const {
        hd::fail(&args.words->failure, item(), status, line);
    }
    // The lane goes on, with what was kept before: others of its warp may wait for it.
    HD_DEVICE void note(Status status) const { hd::note(&args.words->failure, item(), status, 0); }
};

// ---- pairs

template <class Fold> HD_DEVICE void read_pair(const ReadPairsArgs &a, uint32_t i, uint64_t &bytes) {
    const uint32_t slot = a.slots[i];
    const Pair pair = a.pairs[slot];
    const Key key = {a.arena + pair.at, pair.key_length};
    const char *const end = key.bytes + pair.length;
    ValueText text{pair.key_length < pair.length ? key.bytes + pair.key_length + 1 : end, end};
    const uint32_t value_bytes = static_cast<uint32_t>(end - text.at);
    typename Fold::Values values;
    if (!Fold::key_rule().accepts(key.bytes, key.length) || !Fold::read(values, text))
        fail(&a.words->failure, pair.item, Status::unreadable, 0);
    if (pair.length > a.longest_line) atomicExch(&a.words->too_long, 1u);
    bytes += text_size(key.length) + text_size(value_bytes);
    Fold::put(a.columns, i, values);
    const uint64_t hash = key_hash(key);
    bool claimed;
    const uint32_t place = key_place(a.table, hash, key_table_word(hash, slot, false), claimed, [&](uint64_t there) {
        const uint32_t reference = static_cast<uint32_t>(there);
        if (!(there & key_kept) && reference == slot) return true;
        return same_key(key, there & key_kept ? kept_key(a.kept, reference) : slot_key(a.arena, a.pairs, reference));
    });
    a.places[i] = place;
    if (place == no_place) {
        atomicExch(&a.words->overflow, 1u);
    } else if (claimed) {
        const uint32_t number = atomicAdd(&a.words->keys, 1u);
        a.table.numbers[place] = number;
        a.new_slots[number - a.kept.count] = slot;
        a.new_places[number - a.kept.count] = place;
    }
}

template <class Fold> HD_DEVICE void read_pairs(const ReadPairsArgs &a) {
    uint64_t bytes = 0;
    for (uint64_t i = grid_thread(); i < a.count; i += grid_threads()) read_pair<Fold>(a, static_cast<uint32_t>(i), bytes);
    if (bytes) atomicAdd(&a.words->bytes, static_cast<unsigned long long>(bytes));
}

template <class Fold> HD_DEVICE void gather_columns(const GatherColumnsArgs &a) {
    for (uint64_t i = grid_thread(); i < a.to.count; i += grid_threads()) {
        typename Fold::Values values;
        Fold::get(a.from, a.of[i], values);
        Fold::put(a.to, i, values);
    }
}

// ---- steps

// What is kept of the key `number`.
template <class Fold, class Char> HD_DEVICE auto kept_state(Char *states, uint64_t number) {
    constexpr uint64_t size = sizeof(typename Fold::State) + Fold::text_bytes;
    return reinterpret_cast<std::conditional_t<std::is_const_v<Char>, const typename Fold::State, typename Fold::State> *>(
        states + size * number);
}

// A copy of the state that lies there, whose texts stay.
template <class Fold> HD_DEVICE void place_texts(typename Fold::State &state, const typename Fold::State *kept) {
    if constexpr (Fold::text_bytes != 0) Fold::place(state, const_cast<char *>(reinterpret_cast<const char *>(kept + 1)));
}

constexpr uint32_t chain_ahead = 8;  // pairs whose numbers a thread asks for at once
constexpr uint32_t chain_threads = 128;  // of a block that does long runs
template <class Values> constexpr uint32_t chain_tile = sizeof(Values) <= 64 ? 128 : 64;  // pairs that a warp brings at once

// The state of a run's key, from its first pair on.
template <class Fold> struct Chain {
    using Values = typename Fold::Values;
    using State = typename Fold::State;

    const ChainArgs &args;
    uint64_t at, stop;  // pairs that are left
    State *kept;
    State state{};
    bool known;

    HD_DEVICE Chain(const ChainArgs &a, uint32_t run)
        : args(a), at(a.starts[run]), stop(a.starts[run + 1]), kept(nullptr) {
        const uint64_t number = a.keys[at] >> a.item_bits;
        kept = kept_state<Fold>(a.states, number);
        known = number < a.known;
        if (known) state = *kept;
        place_texts<Fold>(state, kept);
    }

    HD_DEVICE void step(const Values &values) {
        const StepLeaving leaving{args, at++};
        if constexpr (Fold::text_bytes != 0)
            Fold::same(state, values, leaving, OrderedTexts<StepLeaving>{leaving});
        else
            Fold::same(state, values, leaving);
    }
    HD_DEVICE void begin(const Values &values) {
        const StepLeaving leaving{args, at++};
        if constexpr (Fold::text_bytes != 0)
            Fold::first(state, values, leaving, OrderedTexts<StepLeaving>{leaving});
        else
            Fold::first(state, values, leaving);
        known = true;
    }
    HD_DEVICE void end() { *kept = state; }
};

template <class Fold> HD_DEVICE void do_chain(const ChainArgs &a, uint32_t run) {
    Chain<Fold> chain(a, run);
    typename Fold::Values values;
    if (!chain.known) {
        Fold::get(a.columns, chain.at, values);
        chain.begin(values);
    }
    while (chain.at + chain_ahead <= chain.stop) {
        typename Fold::Values ahead[chain_ahead];
        HD_UNROLL
        for (uint32_t k = 0; k < chain_ahead; ++k) Fold::get(a.columns, chain.at + k, ahead[k]);
        HD_UNROLL
        for (uint32_t k = 0; k < chain_ahead; ++k) Fold::ask(ahead[k]);
        HD_UNROLL
        for (uint32_t k = 0; k < chain_ahead; ++k) chain.step(ahead[k]);
    }
    while (chain.at < chain.stop) {
        Fold::get(a.columns, chain.at, values);
        chain.step(values);
    }
    chain.end();
}

template <class Fold> HD_DEVICE void chains(const ChainArgs &a) {
    for (uint64_t run = grid_thread(); run < a.runs; run += grid_threads())
        if (Fold::leaves || a.starts[run + 1] - a.starts[run] < long_run) do_chain<Fold>(a, static_cast<uint32_t>(run));
}

// What the lanes of a warp bring for its first one.
template <class Fold> struct ChainTile {
    static constexpr uint32_t pairs = chain_tile<typename Fold::Values>, lanes = 32, each = pairs / lanes;
    typename Fold::Values values[pairs];

    struct Ahead {
        typename Fold::Values values[each];

        HD_DEVICE void ask(const Columns &columns, uint64_t from, uint64_t stop, uint32_t lane) {
            HD_UNROLL
            for (uint32_t k = 0; k < each; ++k)
                if (from + k * lanes + lane < stop) Fold::get(columns, from + k * lanes + lane, values[k]);
        }
    };

    HD_DEVICE void put(const Ahead &ahead, uint64_t count, uint32_t lane) {
        HD_UNROLL
        for (uint32_t k = 0; k < each; ++k) {
            if (k * lanes + lane >= count) continue;
            Fold::ask(ahead.values[k]);
            values[k * lanes + lane] = ahead.values[k];
        }
    }
};

// A warp for a run: its lanes bring the numbers of the pairs to come while the first one does the steps. None of these may end
// the lane: the others would wait for it.
template <class Fold> HD_DEVICE void do_long_chain(const ChainArgs &a, uint32_t run, ChainTile<Fold> &tile) {
    const uint32_t lane = threadIdx.x % 32;
    const uint64_t stop = a.starts[run + 1];
    Chain<Fold> chain(a, run);
    typename ChainTile<Fold>::Ahead ahead;
    ahead.ask(a.columns, chain.at, stop, lane);
    constexpr uint32_t pairs = ChainTile<Fold>::pairs;
    for (uint64_t at = a.starts[run]; at < stop; at += pairs) {
        const uint32_t count = static_cast<uint32_t>(stop - at < pairs ? stop - at : pairs);
        tile.put(ahead, count, lane);
        __syncwarp();
        ahead.ask(a.columns, at + pairs, stop, lane);
        if (lane == 0) {
            uint32_t k = 0;
            if (!chain.known) chain.begin(tile.values[k++]);
#ifdef __CUDACC__
#pragma unroll 8
#endif
            for (; k < count; ++k) chain.step(tile.values[k]);
        }
        __syncwarp();
    }
    if (lane == 0) chain.end();
}

template <class Fold> HD_DEVICE void long_chains(const ChainArgs &a) {
    if constexpr (!Fold::leaves) {
        HD_SHARED(Box<ChainTile<Fold>[chain_threads / 32]>, tiles_of_block);
        for (uint64_t i = grid_thread() / 32; i < a.runs; i += grid_threads() / 32)
            do_long_chain<Fold>(a, a.chosen[i], tiles_of_block.value[threadIdx.x / 32]);
    }
}

// ---- lines

struct LineSize {
    uint64_t size = 0;
    template <class Piece> HD_DEVICE void put(const Piece &piece) { size += static_cast<uint64_t>(piece.size()); }
};

struct LineText {
    char *at;
    template <class Piece> HD_DEVICE void put(const Piece &piece) { at = piece.write(at); }
};

template <class Fold, class Out> HD_DEVICE bool print_key(const FinishArgs &a, uint64_t i, Out &out) {
    const typename Fold::State *const there = kept_state<Fold>(a.states, i);
    typename Fold::State state = *there;
    place_texts<Fold>(state, there);
    const Key key = kept_key(a.kept, static_cast<uint32_t>(i));
    LineLeaving leaving{a.words};
    return Fold::finish(state, Text{key.bytes, key.length}, out, leaving);
}

template <class Fold> HD_DEVICE void line_sizes(const FinishArgs &a) {
    for (uint64_t i = grid_thread(); i < a.kept.count; i += grid_threads()) {
        LineSize line;
        const bool prints = print_key<Fold>(a, i, line);
        if (line.size > a.longest_line || line.size >= no_pair - 8) atomicExch(&a.words->too_long, 1u);
        a.sizes[i] = prints ? (static_cast<uint32_t>(line.size) + 7) & ~7u : 0;
    }
}

template <class Fold> HD_DEVICE void write_lines(const FinishArgs &a) {
    for (uint64_t i = grid_thread(); i < a.kept.count; i += grid_threads()) {
        Pair &line = a.lines[i];
        line = {a.offset[i], no_pair, 0, static_cast<uint32_t>(i), 0};
        LineText text{a.to + a.offset[i]};
        if (a.sizes[i] == 0 || !print_key<Fold>(a, i, text)) continue;
        line.length = static_cast<uint32_t>(text.at - a.to - a.offset[i]) - 1;
        line.key_length = a.kept.length[i];
        for (const char *const end = a.to + a.offset[i] + a.sizes[i]; text.at < end;) *text.at++ = '\0';  // read by words, too
    }
}

}  // namespace hd

#define HD_ORDERED(Fold)                                                                                                       \
    extern "C" __global__ void hd_combine_values(const hd::ReadPairsArgs a) { hd::read_pairs<Fold>(a); }                       \
    HD_KERNEL(hd_combine_values, hd::ReadPairsArgs)                                                                            \
    extern "C" __global__ void hd_combine_gather(const hd::GatherColumnsArgs a) { hd::gather_columns<Fold>(a); }               \
    HD_KERNEL(hd_combine_gather, hd::GatherColumnsArgs)                                                                        \
    extern "C" __global__ void hd_combine(const hd::ChainArgs a) { hd::chains<Fold>(a); }                                      \
    HD_KERNEL(hd_combine, hd::ChainArgs)                                                                                       \
    extern "C" __global__ void __launch_bounds__(hd::chain_threads) hd_combine_long(const hd::ChainArgs a) {                   \
        hd::long_chains<Fold>(a);                                                                                              \
    }                                                                                                                          \
    HD_KERNEL(hd_combine_long, hd::ChainArgs)                                                                                  \
    extern "C" __global__ void hd_combine_sizes(const hd::FinishArgs a) { hd::line_sizes<Fold>(a); }                           \
    HD_KERNEL(hd_combine_sizes, hd::FinishArgs)                                                                                \
    extern "C" __global__ void hd_combine_lines(const hd::FinishArgs a) { hd::write_lines<Fold>(a); }                          \
    HD_KERNEL(hd_combine_lines, hd::FinishArgs)
