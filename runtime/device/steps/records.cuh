// Raw text -> records: where they end, by Hadoop's LineRecordReader or at one byte; their ranges and slots. See kernels.h.
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

// Calls found(position of the word, its end flags) for the words of [at, at + 16) that hold an end; at < size, a multiple of 16.
// Returns true if the text's last byte is there, and a record lacks its end behind it.
template <class Found> HD_DEVICE bool visit_unit(const IndexText &in, uint64_t at, Found found) {
    const TwoWords loaded = *reinterpret_cast<const TwoWords *>(in.text + at);
    uint64_t ends = 0;
    for (uint32_t half = 0; half < 2 && at + half * 8 < in.size; ++half) {
        ends = ends_in_word(in, at + half * 8, loaded.word[half]);
        if (ends) found(at + half * 8, ends);
    }
    return in.size - at <= 16 && in.begin < in.size && !(ends >> ((in.size - 1) % 8 * 8) & 0x80);
}

HD_DEVICE uint64_t index_tiles(const IndexText &in) { return (in.size + index_tile - 1) / index_tile; }
HD_DEVICE uint64_t tile_end(const IndexText &in, uint64_t from) { return in.size - from < index_tile ? in.size : from + index_tile; }

// A block's view of a tile.
struct IndexTile {
    uint16_t ends[index_tile + 1];  // from the tile's begin
    uint32_t parts[index_threads + 1];
    uint64_t start;  // of the first record that ends here
};

// parts[i] of each thread becomes the sum of those before it, parts[threads] of all. By all threads of a block, whole warps.
HD_DEVICE void sum_parts(uint32_t *parts) {
    __syncthreads();
    if (threadIdx.x < 32) {
        const uint32_t each = blockDim.x / 32, first = threadIdx.x * each;
        uint32_t own = 0;
        for (uint32_t k = 0; k < each; ++k) own += parts[first + k];
        uint32_t sum = own;
        for (uint32_t near = 1; near < 32; near *= 2) {
            const uint32_t before = __shfl_up_sync(~0u, sum, near);
            if (threadIdx.x >= near) sum += before;
        }
        uint32_t running = sum - own;
        for (uint32_t k = 0; k < each; ++k) {
            const uint32_t part = parts[first + k];
            parts[first + k] = running;
            running += part;
        }
        if (threadIdx.x == 31) parts[blockDim.x] = sum;
    }
    __syncthreads();
}

// Behind the last end before a tile.
HD_DEVICE uint64_t start_before(const IndexRecordsArgs &a, uint64_t tile) {
    while (tile-- > 0)
        if (a.last[tile]) return tile * index_tile + a.last[tile];
    return a.in.begin;
}

// Fills tile.ends in order.
HD_DEVICE void find_ends(const IndexText &in, uint64_t from, IndexTile &tile) {
    const uint64_t to = tile_end(in, from), units = (to - from + 15) / 16;
    const uint64_t each = (units + blockDim.x - 1) / blockDim.x * 16, begin = from + threadIdx.x * each;
    const uint64_t stop = begin + each < to ? begin + each : to;
    uint32_t count = 0;
    for (uint64_t at = begin; at < stop; at += 16)
        if (visit_unit(in, at, [&](uint64_t, uint64_t ends) { count += count_bits(ends); })) ++count;
    tile.parts[threadIdx.x] = count;
    sum_parts(tile.parts);
    uint16_t *place = tile.ends + tile.parts[threadIdx.x];
    for (uint64_t at = begin; at < stop; at += 16) {
        const bool missing = visit_unit(in, at, [&](uint64_t word, uint64_t ends) {
            for (; ends; ends &= ends - 1) *place++ = static_cast<uint16_t>(word - from + lowest_byte(ends));
        });
        if (missing) *place++ = static_cast<uint16_t>(in.size - from);
    }
    __syncthreads();
}

// A record as a range of the text, without its end.
struct TextRange {
    uint64_t start;
    uint32_t length;
};

HD_DEVICE TextRange range_of_record(const IndexText &in, uint64_t from, const IndexTile &tile, uint32_t i) {
    const uint64_t start = i ? from + tile.ends[i - 1] + 1 : tile.start;
    uint64_t end = from + tile.ends[i];
    const bool newline = in.delimiter < 0 && end < in.size && in.text[end] == '\n';
    if (newline && end > start && in.text[end - 1] == '\r') --end;
    return {start, static_cast<uint32_t>(end - start)};
}

// Behind the record and its end.
HD_DEVICE uint64_t end_of_record(const IndexText &in, uint64_t from, const IndexTile &tile, uint32_t i) {
    const uint64_t end = from + tile.ends[i] + 1;
    return end < in.size ? end : in.size;
}

HD_DEVICE void note_long(LongRecords *longs, TextRange record, uint64_t end) {
    const uint32_t place = atomicAdd(&longs->count, 1u);
    if (place < most_long) longs->record[place] = LongRecord{record.start, end, record.length};
}

// The tile's records, from number `first` on. Their slots lie one behind the other; those of a tile begin where even slots of
// the greatest size would have ended: a record takes at most 17 bytes more than it has, and there is its end in the text.
HD_DEVICE void write_records(const IndexRecordsArgs &a, uint64_t from, const IndexTile &tile, uint32_t *parts, uint64_t first,
                             uint32_t count) {
    const uint32_t each = (count + blockDim.x - 1) / blockDim.x;
    const uint32_t begin = smaller(threadIdx.x * each, count), stop = smaller(begin + each, count);
    uint32_t bytes = 0;
    for (uint32_t i = begin; i < stop; ++i) bytes += slot_size(range_of_record(a.in, from, tile, i).length);
    parts[threadIdx.x] = bytes;
    sum_parts(parts);
    uint64_t slot = ((tile.start + slot_spread * first) & ~static_cast<uint64_t>(15)) + parts[threadIdx.x];
    for (uint32_t i = begin; i < stop; ++i) {
        const TextRange record = range_of_record(a.in, from, tile, i);
        a.offset[first + i] = record.start;
        a.length[first + i] = record.length;
        a.slot[first + i] = slot;
        if (record.length >= long_record) note_long(a.longs, record, end_of_record(a.in, from, tile, i));
        slot += slot_size(record.length);
    }
    __syncthreads();
}

}  // namespace hd

extern "C" __global__ void hd_index_count(const hd::IndexCountArgs a) {
    HD_SHARED(unsigned int, counted);
    HD_SHARED(unsigned int, last_end);
    for (uint64_t tile = blockIdx.x; tile < hd::index_tiles(a.in); tile += gridDim.x) {
        if (threadIdx.x == 0) counted = last_end = 0;
        __syncthreads();
        const uint64_t from = tile * hd::index_tile, to = hd::tile_end(a.in, from);
        uint32_t count = 0, last = 0;
        for (uint64_t at = from + threadIdx.x * 16; at < to; at += blockDim.x * 16) {
            const bool missing = hd::visit_unit(a.in, at, [&](uint64_t word, uint64_t ends) {
                count += hd::count_bits(ends);
                last = static_cast<uint32_t>(word - from) + hd::highest_byte(ends) + 1;
            });
            if (!missing) continue;
            ++count;
            last = static_cast<uint32_t>(a.in.size - from) + 1;
        }
        if (count) {
            atomicAdd(&counted, count);
            atomicMax(&last_end, last);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            a.counts[tile] = counted;
            a.last[tile] = last_end;
            if (!counted) atomicAdd(a.empty, 1ull);
        }
    }
}
HD_KERNEL(hd_index_count, hd::IndexCountArgs)

extern "C" __global__ void hd_index_records(const hd::IndexRecordsArgs a) {
    HD_SHARED(hd::IndexTile, tile);
    for (uint64_t number = blockIdx.x; number < hd::index_tiles(a.in); number += gridDim.x) {
        const uint64_t first = a.first[number], from = number * hd::index_tile;
        const uint32_t count = static_cast<uint32_t>(a.first[number + 1] - first);
        if (count == 0) continue;
        if (threadIdx.x == 0) tile.start = hd::start_before(a, number);
        hd::find_ends(a.in, from, tile);
        hd::write_records(a, from, tile, tile.parts, first, count);
    }
}
HD_KERNEL(hd_index_records, hd::IndexRecordsArgs)
