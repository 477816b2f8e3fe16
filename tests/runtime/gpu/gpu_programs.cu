// Map and combine kernels for the tests of whole tasks, as the compiler would write them from the C programs of
// gpu_programs.py, with the same names.
#include "libc/format.cuh"
#include "lane/lane.cuh"
#include "lane/map_fold.cuh"
#include "libc/numbers.cuh"

namespace {

using Cursor = hd::Lane<hd::BlockCursor>;
using Area = hd::Lane<hd::ThreadArea>;
using BlockArea = hd::Lane<hd::ThreadArea, hd::BlockItems>;
using WarpArea = hd::Lane<hd::WarpArea, hd::OnePerWarp<hd::BlockItems>>;
using WarpCursor = hd::Lane<hd::BlockCursor, hd::OnePerWarp<hd::GlobalItems>>;

struct None {
    char unused;
};

template <class Lane> __device__ void words(const hd::Task &task) {
    Lane hd(task);
    while (hd.next()) {
        char *line = nullptr;
        unsigned long capacity = 0;
        long length;
        while ((length = hd.in.getline(&line, &capacity)) != -1) {
            for (long from = 0, at = 0; at < length; ++at) {
                if (line[at] != ' ' && line[at] != '\n') continue;
                if (at > from) hd.print(hd::bytes(line + from, at - from), hd::text("\t1\n", 3));
                from = at + 1;
            }
        }
    }
    hd.finish();
}

// Adds up the values of neighbouring equal keys.
template <class Lane> __device__ void sum(const hd::Task &task) {
    Lane hd(task);
    while (hd.next()) {
        char *line = nullptr, *key = nullptr;
        unsigned long capacity = 0;
        long length, total = 0;
        while ((length = hd.in.getline(&line, &capacity)) != -1) {
            char *value = hd::strchr(line, '\t');
            *value++ = 0;
            if (key && hd::strcmp(key, line) != 0) {
                hd.print(hd::str(key), hd::chr('\t'), hd::dec(total), hd::chr('\n'));
                total = 0;
            }
            key = line;
            total += hd::atol(value);
        }
        if (key) hd.print(hd::str(key), hd::chr('\t'), hd::dec(total), hd::chr('\n'));
    }
    hd.finish();
}

}  // namespace

extern "C" __global__ void words_cursor(HD_PARAMETER const hd::Task task, HD_PARAMETER const None) { words<Cursor>(task); }
HD_KERNEL(words_cursor, hd::Task, None)

extern "C" __global__ void words_area(HD_PARAMETER const hd::Task task, HD_PARAMETER const None) { words<Area>(task); }
HD_KERNEL(words_area, hd::Task, None)

extern "C" __global__ void sum_cursor(HD_PARAMETER const hd::Task task, HD_PARAMETER const None) { sum<Cursor>(task); }
HD_KERNEL(sum_cursor, hd::Task, None)

extern "C" __global__ void sum_area(HD_PARAMETER const hd::Task task, HD_PARAMETER const None) { sum<Area>(task); }
HD_KERNEL(sum_area, hd::Task, None)

extern "C" __global__ void words_block_area(HD_PARAMETER const hd::Task task, HD_PARAMETER const None) {
    words<BlockArea>(task);
}
HD_KERNEL(words_block_area, hd::Task, None)

extern "C" __global__ void sum_warp_area(HD_PARAMETER const hd::Task task, HD_PARAMETER const None) { sum<WarpArea>(task); }
HD_KERNEL(sum_warp_area, hd::Task, None)

extern "C" __global__ void sum_warp(HD_PARAMETER const hd::Task task, HD_PARAMETER const None) { sum<WarpCursor>(task); }
HD_KERNEL(sum_warp, hd::Task, None)

// The least, the greatest, the sum and the number of neighbouring equal keys.
namespace {
struct Stats {
    int least, most;
    long total;
    unsigned count;
};

__device__ void print_stats(Cursor &hd, const char *key, const Stats &kept) {
    hd.print(hd::str(key), hd::chr('\t'), hd::dec(kept.least), hd::chr(','), hd::dec(kept.most), hd::chr(','),
             hd::dec(kept.total), hd::chr(','), hd::dec(kept.count), hd::chr('\n'));
}
}  // namespace

extern "C" __global__ void stats_cursor(HD_PARAMETER const hd::Task task, HD_PARAMETER const None) {
    Cursor hd(task);
    while (hd.next()) {
        char *line = nullptr, *key = nullptr;
        unsigned long capacity = 0;
        Stats kept{};
        while (hd.in.getline(&line, &capacity) != -1) {
            char *at = hd::strchr(line, '\t');
            *at++ = 0;
            Stats read;
            read.least = static_cast<int>(hd::strtol(hd.err, at, &at, 10));
            read.most = static_cast<int>(hd::strtol(hd.err, at + 1, &at, 10));
            read.total = hd::strtol(hd.err, at + 1, &at, 10);
            read.count = static_cast<unsigned>(hd::strtoul(hd.err, at + 1, &at, 10));
            if (key && hd::strcmp(key, line) == 0) {
                if (read.least < kept.least) kept.least = read.least;
                if (read.most > kept.most) kept.most = read.most;
                kept.total = static_cast<long>(static_cast<unsigned long>(kept.total) + static_cast<unsigned long>(read.total));
                kept.count += read.count;
                continue;
            }
            if (key) print_stats(hd, key, kept);
            key = line;
            kept = read;
        }
        if (key) print_stats(hd, key, kept);
    }
    hd.finish();
}
HD_KERNEL(stats_cursor, hd::Task, None)

// Pairs that the map kernel folds itself: of words; and of lines of a number and a key, as the least, the greatest, the sum and
// the number of the key's numbers. A number that is followed by '!' is printed as a text, which is folded behind the kernel.
namespace {
template <uint32_t Places, class Keys, class... Fields>
using Folding = hd::Lane<hd::CountingCursor, hd::GlobalItems, hd::MapFold<Places, Keys, Fields...>>;
using hd::FoldOp;
using hd::ValueReader;
using Fields = hd::FoldKeys<hd::KeyReader::field, 0>;

template <class Lane> __device__ void folded_words(const hd::Task &task) {
    Lane hd(task);
    while (hd.next()) {
        char *line = nullptr;
        unsigned long capacity = 0;
        long length;
        while ((length = hd.in.getline(&line, &capacity)) != -1) {
            for (long from = 0, at = 0; at < length; ++at) {
                if (line[at] != ' ' && line[at] != '\n') continue;
                if (at > from)
                    hd.template pair<hd::Constant<1>>(hd::bytes(line + from, static_cast<size_t>(at - from)), hd::text("\t1\n", 3));
                from = at + 1;
            }
        }
    }
    hd.finish();
    hd.close();
}

template <class Lane> __device__ void folded_stats(const hd::Task &task) {
    Lane hd(task);
    while (hd.next()) {
        char *line = nullptr;
        unsigned long capacity = 0;
        long length;
        while ((length = hd.in.getline(&line, &capacity)) != -1) {
            line[length - 1] = 0;
            char *key = nullptr;
            const long n = hd::strtol(hd.err, line, &key, 10);
            if (*key == '?') hd.warn(hd::text("reporter:counter:stats,asked,1\n", 31));
            if (*key == '!') {
                hd.print(hd::str(key), hd::text("\t", 1), hd::dec(n), hd::text(",7,7", 4));
                hd.print(hd::text(",7\n", 3));
                continue;
            }
            hd.template pair<hd::PieceAt<2>, hd::PieceAt<4>, hd::PieceAt<6>, hd::Constant<1>>(
                hd::str(key), hd::text("\t", 1), hd::dec(n), hd::text(",", 1), hd::dec(static_cast<int>(n)), hd::text(",", 1),
                hd::dec(n), hd::text(",1\n", 3));
        }
    }
    hd.finish();
    hd.close();
}

template <class Lane> __device__ void folded_numbers(const hd::Task &task) {
    Lane hd(task);
    while (hd.next()) {
        char *line = nullptr;
        unsigned long capacity = 0;
        while (hd.in.getline(&line, &capacity) != -1) {
            char *rest = nullptr;
            const long key = hd::strtol(hd.err, line, &rest, 10), n = hd::strtol(hd.err, rest, &rest, 10);
            hd.template pair<hd::PieceAt<2>>(hd::dec(key), hd::text("\t", 1), hd::dec(n), hd::text("\n", 1));
        }
    }
    hd.finish();
    hd.close();
}
}  // namespace

extern "C" __global__ void words_folded(HD_PARAMETER const hd::Task task, HD_PARAMETER const None) {
    folded_words<Folding<64, Fields, hd::FoldField<FoldOp::sum, ValueReader::int64>>>(task);
}
HD_KERNEL(words_folded, hd::Task, None)

extern "C" __global__ void stats_folded(HD_PARAMETER const hd::Task task, HD_PARAMETER const None) {
    folded_stats<Folding<32, hd::FoldKeys<hd::KeyReader::token, 60>, hd::FoldField<FoldOp::least, ValueReader::int32>,
                         hd::FoldField<FoldOp::greatest, ValueReader::int32>, hd::FoldField<FoldOp::sum, ValueReader::int64>,
                         hd::FoldField<FoldOp::sum, ValueReader::uint32>>>(task);
}
HD_KERNEL(stats_folded, hd::Task, None)

extern "C" __global__ void numbers_folded(HD_PARAMETER const hd::Task task, HD_PARAMETER const None) {
    folded_numbers<Folding<32, hd::FoldKeys<hd::KeyReader::int32, 0, true, 0xffffffffffffffffull>,
                           hd::FoldField<FoldOp::greatest, ValueReader::int64>>>(task);
}
HD_KERNEL(numbers_folded, hd::Task, None)

// The line as it is.
extern "C" __global__ void identity(HD_PARAMETER const hd::Task task, HD_PARAMETER const None) {
    Cursor hd(task);
    while (hd.next()) {
        char *line = nullptr;
        unsigned long capacity = 0;
        long length;
        while ((length = hd.in.getline(&line, &capacity)) != -1) hd.print(hd::bytes(line, length));
    }
    hd.finish();
}
HD_KERNEL(identity, hd::Task, None)

// A number of copies of the rest of the line, which says how many; with stderr in between.
namespace {
template <class Lane> __device__ void copies(const hd::Task &task) {
    Lane hd(task);
    while (hd.next()) {
        char *line = nullptr;
        unsigned long capacity = 0;
        while (hd.in.getline(&line, &capacity) != -1) {
            char *rest = nullptr;
            const long n = hd::strtol(hd.err, line, &rest, 10);
            if (n < 0) hd.warn(hd::text("reporter:counter:copies,negative,1\n", 35), hd::text("negative: ", 10), hd::dec(n));
            if (n < 0) hd.warn(hd::chr('\n'));
            for (long i = 0; i < n; ++i) hd.print(hd::dec(i), hd::chr('\t'), hd::str(rest));
        }
    }
    hd.finish();
}
}  // namespace

extern "C" __global__ void copies_cursor(HD_PARAMETER const hd::Task task, HD_PARAMETER const None) { copies<Cursor>(task); }
HD_KERNEL(copies_cursor, hd::Task, None)

extern "C" __global__ void copies_area(HD_PARAMETER const hd::Task task, HD_PARAMETER const None) { copies<BlockArea>(task); }
HD_KERNEL(copies_area, hd::Task, None)

// A line that begins with '!' makes the lane fail, "r" prints a \r; others are printed behind the text of an object that
// the host passes.
struct Texts {
    const char *first;
    const char *second;
    int chosen;
};

extern "C" __global__ void touchy(HD_PARAMETER const hd::Task task, HD_PARAMETER const Texts shared) {
    Cursor hd(task);
    while (hd.next()) {
        char *line = nullptr;
        unsigned long capacity = 0;
        long length;
        while ((length = hd.in.getline(&line, &capacity)) != -1) {
            if (line[0] == '!') hd.fail(hd::Status::division, 42);
            if (line[0] == 'r') hd.print(hd::text("\r\n", 2));
            hd.print(hd::str(shared.chosen == 1 ? shared.first : shared.second), hd::bytes(line, length));
        }
    }
    hd.finish();
}
HD_KERNEL(touchy, hd::Task, Texts)

extern "C" __global__ void unended(HD_PARAMETER const hd::Task task, HD_PARAMETER const None) {
    Cursor hd(task);
    while (hd.next()) {
        char *line = nullptr;
        unsigned long capacity = 0;
        while (hd.in.getline(&line, &capacity) != -1) hd.print(hd::chr('?'));
    }
    hd.finish();
}
HD_KERNEL(unended, hd::Task, None)

// Combiners that are none: the first breaks the order of keys, the second talks.
extern "C" __global__ void disorder(HD_PARAMETER const hd::Task task, HD_PARAMETER const None) {
    Cursor hd(task);
    while (hd.next()) {
        char *line = nullptr;
        unsigned long capacity = 0;
        long length;
        while ((length = hd.in.getline(&line, &capacity)) != -1) hd.print(hd::chr('z' - (line[0] - 'a')), hd::text("\t1\n", 3));
    }
    hd.finish();
}
HD_KERNEL(disorder, hd::Task, None)

extern "C" __global__ void talker(HD_PARAMETER const hd::Task task, HD_PARAMETER const None) {
    Cursor hd(task);
    while (hd.next()) {
        char *line = nullptr;
        unsigned long capacity = 0;
        while (hd.in.getline(&line, &capacity) != -1) hd.warn(hd::str(line));
    }
    hd.finish();
}
HD_KERNEL(talker, hd::Task, None)
