// The segments of one partition: Hadoop's IFile (runtime/host/ifile/ifile.h), mapped into memory, and looked through once.
//
// Standard input is a file that says which they are:
//   u64 segments;  {u64 start, raw_length, part_length, path} [segments], path: where in the file its bytes are, with a NUL
// Its place, which we move, says how far we are.
#pragma once

#include "leave.h"
#include "sink/key_words.h"
#include "reduce/crc32.h"

namespace hd {

namespace sys {
extern "C" {
int open(const char *path, int flags, ...);
int close(int descriptor);
long lseek(int descriptor, long offset, int from);
}
}  // namespace sys

[[noreturn]] inline void broken() { sys::_exit(broken_status); }

// What was done of all that there is to do.
inline uint64_t bytes_done = 0;
inline void progress(uint64_t bytes) {
    const uint64_t all = __atomic_add_fetch(&bytes_done, bytes, __ATOMIC_RELAXED);
    sys::lseek(0, static_cast<long>(all), 0);
}

struct Record {
    const char *key, *value;
    uint64_t key_size, value_size;
};

// A key's first eight bytes as a number that is in order.
HD_DEVICE uint64_t prefix_of(const KeyWords &words) { return __builtin_bswap64(words.first); }

// Below 0, 0 or above 0, as unsigned bytes.
HD_DEVICE int compare_keys(const char *a, uint64_t n, const char *b, uint64_t m) {
    const int order = __builtin_memcmp(a, b, n < m ? n : m);
    return order ? order : (n > m) - (n < m);
}

// One of Hadoop's numbers, moving `at` behind it; false where it is not there.
inline bool vint(const char *&at, const char *end, int64_t &value) {
    if (at == end) return false;
    const int first = static_cast<signed char>(*at);
    const bool negative = first < -120;
    const int more = first >= -112 ? 0 : negative ? -(first + 120) : -(first + 112);
    if (end - at <= more) return false;
    uint64_t bits = 0;
    for (int i = 1; i <= more; ++i) bits = bits << 8 | static_cast<unsigned char>(at[i]);
    value = more == 0 ? first : static_cast<int64_t>(negative ? ~bits : bits);
    at += more + 1;
    return true;
}

HD_NOINLINE bool text_at(const char *at, uint64_t size, const char *&text, uint64_t &n) {
    const char *const end = at + size;
    int64_t length;
    if (!vint(at, end, length) || length < 0 || static_cast<uint64_t>(length) != static_cast<uint64_t>(end - at)) return false;
    text = at;
    n = static_cast<uint64_t>(length);
    return true;
}

HD_NOINLINE const char *large_record_at(const char *at, const char *end, Record &record) {
    int64_t key, value;
    if (!vint(at, end, key) || !vint(at, end, value) || key < 1 || value < 1) return nullptr;
    const uint64_t left = static_cast<uint64_t>(end - at), k = static_cast<uint64_t>(key), v = static_cast<uint64_t>(value);
    if (k > left || v > left - k) return nullptr;
    if (!text_at(at, k, record.key, record.key_size) || !text_at(at + k, v, record.value, record.value_size)) return nullptr;
    return at + k + v;
}

// The place behind the record at `at`; null where there is none.
HD_DEVICE const char *record_at(const char *at, const char *end, Record &record) {
    if (__builtin_expect(end - at < 2, 0)) return nullptr;
    const int key = static_cast<signed char>(at[0]), value = static_cast<signed char>(at[1]);
    const bool small = key > 0 && value > 0 && end - at >= 2 + key + value && at[2] == key - 1 && at[2 + key] == value - 1;
    if (__builtin_expect(!small, 0)) return large_record_at(at, end, record);
    record = {at + 3, at + 3 + key, static_cast<uint64_t>(key - 1), static_cast<uint64_t>(value - 1)};
    return at + 2 + key + value;
}

struct Segment {
    const char *begin = nullptr, *end = nullptr;  // of its records; the end mark is behind them
    const char **places = nullptr;                // records, about `step` bytes from each other, the first one among them
    uint64_t n_places = 0, records = 0, raw_length = 0;

    // Checks lengths, order, end mark and checksum, and notes places. What is not as it should be ends the process.
    void look_through(uint64_t step) {
        const char *const stop = begin + raw_length;
        places = reinterpret_cast<const char **>(sys::pages((raw_length / step + 1) * sizeof *places));
        if (!places) broken();
        const char *at = begin, *noted = begin;
        Record record, before = {};
        uint64_t prefix = 0;
        while (const char *const next = record_at(at, stop, record)) {
            const uint64_t mine = prefix_of(key_words(record.key, record.key_size));
            if (mine <= prefix && records && (mine < prefix || !in_order(before, record))) broken();
            if (at >= noted) {
                places[n_places++] = at;
                noted = at + step;
            }
            prefix = mine;
            before = record;
            ++records;
            at = next;
        }
        end = at;
        uint32_t wanted = 0;
        for (int i = 0; i < 4; ++i) wanted = wanted << 8 | static_cast<unsigned char>(stop[i]);
        if (stop - at != 2 || at[0] != -1 || at[1] != -1 || crc_continued(0, begin, raw_length) != wanted) broken();
        progress(raw_length);
    }

 private:
    static HD_NOINLINE bool in_order(const Record &a, const Record &b) {
        return compare_keys(a.key, a.key_size, b.key, b.key_size) <= 0;
    }
};

class Segments {
 public:
    // From the file that is standard input.
    void take() {
        uint64_t size = 1 << 16, used = 0;
        char *text = sys::pages(size);
        for (;;) {
            if (!text) broken();
            const long got = sys::read_all(0, text + used, size - used);
            if (got < 0) broken();
            used += static_cast<uint64_t>(got);
            if (used < size) break;
            char *const larger = sys::pages(2 * size);
            if (larger) __builtin_memcpy(larger, text, used);
            text = larger;
            size *= 2;
        }
        open_all(text, used);
    }

    Segment *all = nullptr;
    uint64_t count = 0, bytes = 0;

 private:
    struct Entry {
        uint64_t start, raw_length, part_length, path;
    };

    void open_all(const char *text, uint64_t size) {
        if (size < sizeof count) broken();
        __builtin_memcpy(&count, text, sizeof count);
        if (count > (size - sizeof count) / sizeof(Entry)) broken();
        all = reinterpret_cast<Segment *>(sys::pages(count * sizeof(Segment) + 1));
        if (!all) broken();
        for (uint64_t i = 0; i < count; ++i) {
            Entry entry;
            __builtin_memcpy(&entry, text + sizeof count + i * sizeof entry, sizeof entry);
            if (entry.path >= size || entry.raw_length < 2 || entry.part_length != entry.raw_length + 4) broken();
            all[i] = map(text + entry.path, entry);
            bytes += entry.raw_length;
        }
    }

    static Segment map(const char *path, const Entry &entry) {
        const int file = sys::open(path, 02000000);  // O_RDONLY | O_CLOEXEC
        if (file < 0) broken();
        const uint64_t before = entry.start % 4096;
        const long size = sys::lseek(file, 0, 2);
        if (size < 0 || entry.start > static_cast<uint64_t>(size) || entry.part_length > static_cast<uint64_t>(size) - entry.start)
            broken();
        void *const made = sys::mmap(nullptr, before + entry.part_length, 1, 2, file, static_cast<long>(entry.start - before));
        if (made == reinterpret_cast<void *>(-1)) broken();
        sys::close(file);
        Segment segment;
        segment.begin = static_cast<const char *>(made) + before;
        segment.raw_length = entry.raw_length;
        return segment;
    }
};

}  // namespace hd
