// What the tables hold, as lines in the form of the combiner's input. See fold.h.
#pragma once

#include "steps/fold_table.cuh"

namespace hd {

// The key of a line, byte by byte.
struct FoldedKey {
    uint64_t id;
    Key key;  // of a long one

    HD_DEVICE uint32_t length() const { return is_long(id) ? key.length : static_cast<uint32_t>(id & 0xff) - 1; }
    HD_DEVICE char byte(uint32_t i) const { return is_long(id) ? key.bytes[i] : static_cast<char>(id >> (56 - 8 * i)); }
};

HD_DEVICE FoldedKey folded_key(const FoldLinesArgs &a, uint64_t i) {
    const uint64_t id = a.table.ids[a.chosen[i]];
    if (!is_long(id)) return {id, {nullptr, 0}};
    return {id, KeySlots{a.arena, a.pairs}.key(slot_of(id))};
}

// A number as the combiner's reader sees it: wrapped to its width.
struct FoldedNumber {
    uint64_t magnitude;
    bool negative;

    HD_DEVICE FoldedNumber(const FoldLinesArgs &a, uint64_t i, uint32_t field) {
        const ValueReader reader = a.form.value.readers[field];
        const uint64_t at = static_cast<uint64_t>(a.chosen[i]) * a.form.value.count + field;
        uint64_t number = ordered(a.form.ops[field], reader, a.table.values[at]);
        if (reader == ValueReader::int32) number = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(number)));
        if (reader == ValueReader::uint32) number = static_cast<uint32_t>(number);
        negative = is_signed(reader) && number >> 63;
        magnitude = negative ? 0 - number : number;
    }
    HD_DEVICE uint32_t size() const {
        uint32_t n = negative + 1;
        for (uint64_t rest = magnitude; rest >= 10; rest /= 10) ++n;
        return n;
    }
    // Writes it; `end` is behind its last digit.
    HD_DEVICE void write(char *from, char *end) const {
        if (negative) *from++ = '-';
        for (uint64_t rest = magnitude; end > from; rest /= 10) *--end = static_cast<char>('0' + rest % 10);
    }
};

// Calls text(bytes, size) and number(FoldedNumber) for the parts of a line's value.
template <class Text, class Number>
HD_DEVICE void visit_value(const FoldLinesArgs &a, uint64_t i, Text text, Number number) {
    for (uint32_t field = 0; field < a.form.value.count; ++field) {
        if (field > 0) text(a.form.value.between[field - 1], a.form.value.between_size[field - 1]);
        number(FoldedNumber(a, i, field));
    }
}

}  // namespace hd

extern "C" __global__ void hd_fold_flags(const hd::FoldFlagsArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) a.flags[i] = a.ids[i] != 0;
}
HD_KERNEL(hd_fold_flags, hd::FoldFlagsArgs)

extern "C" __global__ void hd_fold_sizes(const hd::FoldLinesArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) {
        uint32_t size = hd::folded_key(a, i).length() + 2;  // tab and line end
        hd::visit_value(a, i, [&](const char *, uint32_t bytes) { size += bytes; },
                        [&](const hd::FoldedNumber &number) { size += number.size(); });
        a.sizes[i] = (size + 7) & ~7u;
    }
}
HD_KERNEL(hd_fold_sizes, hd::FoldLinesArgs)

extern "C" __global__ void hd_fold_lines(const hd::FoldLinesArgs a) {
    for (uint64_t i = hd::grid_thread(); i < a.count; i += hd::grid_threads()) {
        const hd::FoldedKey key = hd::folded_key(a, i);
        const uint32_t length = key.length();
        const uint64_t at = a.base + a.offset[i];
        char *const text = a.to + at;
        for (uint32_t k = 0; k < length; ++k) text[k] = key.byte(k);
        text[length] = '\t';
        char *end = text + length + 1;
        hd::visit_value(a, i, [&](const char *from, uint32_t bytes) { for (uint32_t k = 0; k < bytes; ++k) *end++ = from[k]; },
                        [&](const hd::FoldedNumber &number) {
                            char *const from = end;
                            end += number.size();
                            number.write(from, end);
                        });
        *end = '\n';
        a.lines[a.first + i] = {at, static_cast<uint32_t>(end - text), length, static_cast<uint32_t>(a.first + i), 0};
    }
}
HD_KERNEL(hd_fold_lines, hd::FoldLinesArgs)
