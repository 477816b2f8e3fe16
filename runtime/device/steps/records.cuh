// Raw text -> records: where they end, by Hadoop's LineRecordReader or at one byte; then their ranges. See kernels.h.
#pragma once

#include "steps/grid.cuh"
#include "lane/words.cuh"

namespace hd {

// Flags of the bytes of [at, at + 8) that lie in [begin, size); not empty.
HD_DEVICE uint64_t bytes_within(const IndexText &in, uint64_t at) {
    uint64_t mask = top_bits;
    if (at < in.begin) mask = in.begin - at >= 8 ? 0 : mask << (in.begin - at) * 8;
    if (in.size - at < 8) mask &= first_bytes(in.size - at);
    return mask;
}

// Flags of the bytes of [at, at + 8), that \n follows, or might follow, behind the word.
HD_DEVICE uint64_t newline_behind(const IndexText &in, uint64_t at) {
    const uint64_t rest = in.size - at;
    if (rest > 8) return in.text[at + 8] == '\n' ? 1ull << 63 : 0;
    return in.text_ends ? 0 : 0x80ull << (rest - 1) * 8;
}

// Flags of the bytes of [at, at + 8) that end a record; at < size, a multiple of 8.
HD_DEVICE uint64_t ends_in_word(const IndexText &in, uint64_t at, uint64_t word) {
    const uint64_t within = bytes_within(in, at);
    if (in.delimiter >= 0) return bytes_equal(word, static_cast<uint32_t>(in.delimiter)) & within;
    uint64_t ends = bytes_equal(word, '\n') & within;
    const uint64_t returns = bytes_equal(word, '\r') & within;
    if (returns) ends |= returns & ~(ends >> 8 | newline_behind(in, at));
    return ends;
}

struct alignas(16) TwoWords {
    uint64_t word[2];
};

// Calls found(position of the word, its end flags) for the words of a tile that hold an end. Returns true if the tile has
// the text's last byte, and a record lacks its end there.
template <class Found> HD_DEVICE bool visit_tile(const IndexText &in, uint64_t tile, Found found) {
    const uint64_t from = tile * index_tile;
    const uint64_t to = in.size - from < index_tile ? in.size : from + index_tile;
    uint64_t ends = 0;
    for (uint64_t at = from; at < to; at += 16) {
        const TwoWords loaded = *reinterpret_cast<const TwoWords *>(in.text + at);
        for (uint32_t half = 0; half < 2 && at + half * 8 < to; ++half) {
            ends = ends_in_word(in, at + half * 8, loaded.word[half]);
            if (ends) found(at + half * 8, ends);
        }
    }
    return to == in.size && in.begin < in.size && !(ends >> ((in.size - 1) % 8 * 8) & 0x80);
}

HD_DEVICE uint64_t index_tiles(const IndexText &in) { return (in.size + index_tile - 1) / index_tile; }

}  // namespace hd

extern "C" __global__ void hd_index_count(const hd::IndexCountArgs a) {
    for (uint64_t tile = hd::grid_thread(); tile < hd::index_tiles(a.in); tile += hd::grid_threads()) {
        uint32_t count = 0;
        if (hd::visit_tile(a.in, tile, [&](uint64_t, uint64_t ends) { count += hd::count_bits(ends); })) ++count;
        a.counts[tile] = count;
    }
}
HD_KERNEL(hd_index_count, hd::IndexCountArgs)

extern "C" __global__ void hd_index_ends(const hd::IndexEndsArgs a) {
    for (uint64_t tile = hd::grid_thread(); tile < hd::index_tiles(a.in); tile += hd::grid_threads()) {
        uint64_t *to = a.ends + a.first[tile];
        const bool missing = hd::visit_tile(a.in, tile, [&](uint64_t at, uint64_t ends) {
            for (; ends; ends &= ends - 1) *to++ = at + hd::lowest_byte(ends);
        });
        if (missing) *to = a.in.size;
    }
}
HD_KERNEL(hd_index_ends, hd::IndexEndsArgs)

extern "C" __global__ void hd_index_records(const hd::IndexRecordsArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) {
        const uint64_t start = i ? a.ends[i - 1] + 1 : a.in.begin;
        uint64_t end = a.ends[i];
        const bool newline = a.in.delimiter < 0 && end < a.in.size && a.in.text[end] == '\n';
        if (newline && end > start && a.in.text[end - 1] == '\r') --end;
        a.offset[i] = start;
        a.length[i] = static_cast<uint32_t>(end - start);
    }
}
HD_KERNEL(hd_index_records, hd::IndexRecordsArgs)
