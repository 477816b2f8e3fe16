// Kernels for the tests of lanes, sinks and the reader: programs whose records say what they do.
#include "lane/lane.cuh"
#include "libc/stdio.cuh"

namespace {

// A record is a list of calls: a letter, a length of two bytes (low first), that many bytes of data.
//   p print the data   2 print it as two pieces, the second one with a source of its own   n print the length as a number
//   w warn             f fail at the line that the length says                           s skip the rest of the record
template <class Lane> __device__ void run(Lane &hd, const char *at, const char *end) {
    while (end - at >= 3) {
        const char call = at[0];
        const unsigned length = static_cast<unsigned char>(at[1]) + 256u * static_cast<unsigned char>(at[2]);
        const char *data = at + 3;
        if (call == 's') return;
        if (call == 'f') hd.fail(hd::Status::exit_called, length);
        int printed = static_cast<int>(length);
        if (call == 'p') printed = hd.print(hd::bytes(data, length));
        if (call == 'w') printed = hd.warn(hd::bytes(data, length));
        if (call == '2') printed = hd.print(hd::bytes(data, length / 2), hd::bytes(data + length / 2, length - length / 2));
        if (call == 'n') printed = hd.print(hd::dec(length), hd::chr('\n')) > 1 ? printed : -1;
        if (printed != static_cast<int>(length)) hd.fail(hd::Status::recursion, length);
        at = data + (call == 'n' ? 0 : length);
    }
}

template <class Sink, class Items = hd::GlobalItems> __device__ void map(const hd::Task &task) {
    hd::Lane<Sink, Items> hd(task);
    while (hd.next()) {
        char *line = nullptr;
        unsigned long capacity = 0;
        long length;
        while ((length = hd.in.getline(&line, &capacity)) != -1) run(hd, line, line + length - 1);
    }
    hd.finish();
}

__device__ void print_hex(hd::Lane<hd::BlockCursor> &hd, const char *from, long n) {
    for (long i = 0; i < n; ++i) {
        const char *digits = "0123456789abcdef";
        hd.print(hd::chr(digits[from[i] >> 4 & 15]), hd::chr(digits[from[i] & 15]));
    }
    hd.print(hd::text("\n", 1));
}

}  // namespace

extern "C" __global__ void print_by_cursor(HD_PARAMETER const hd::Task task) { map<hd::BlockCursor>(task); }
HD_KERNEL(print_by_cursor, hd::Task)

extern "C" __global__ void print_by_thread(HD_PARAMETER const hd::Task task) { map<hd::ThreadArea>(task); }
HD_KERNEL(print_by_thread, hd::Task)

extern "C" __global__ void print_in_blocks(HD_PARAMETER const hd::Task task) { map<hd::ThreadArea, hd::BlockItems>(task); }
HD_KERNEL(print_in_blocks, hd::Task)

extern "C" __global__ void print_by_warp(HD_PARAMETER const hd::Task task) {
    map<hd::WarpArea, hd::OnePerWarp<hd::GlobalItems>>(task);
}
HD_KERNEL(print_by_warp, hd::Task)

// What a reader returns, in hexadecimal. size 0: getline, with the capacity in front; 1: getc; else fgets of that size.
struct ReadHow {
    int size;
};

extern "C" __global__ void read_all(HD_PARAMETER const hd::Task task, HD_PARAMETER const ReadHow how) {
    hd::Lane<hd::BlockCursor> hd(task);
    while (hd.next()) {
        char *line = nullptr;
        unsigned long capacity = 0;
        char buffer[600];
        if (how.size == 0)
            for (long n; (n = hd.in.getline(&line, &capacity)) != -1;) {
                hd.print(hd::dec(capacity), hd::chr(' '));
                print_hex(hd, line, n + 1);
            }
        else if (how.size == 1)
            for (int c; (c = hd.in.get()) != -1;) hd.print(hd::dec(c), hd::chr('\n'));
        else
            while (hd.in.fgets(buffer, how.size)) print_hex(hd, buffer, static_cast<long>(hd::strlen(buffer)) + 1);
    }
    hd.finish();
}
HD_KERNEL(read_all, hd::Task, ReadHow)

// The loop `while (scanf(format, ...) == wanted)`, or `!= EOF` if wanted is -1; up to two targets, words or numbers.
struct ScanHow {
    const char *format;
    int wanted;
    int numbers;  // bit 0: the first target is an int, bit 1: the second
};

extern "C" __global__ void scan_all(HD_PARAMETER const hd::Task task, HD_PARAMETER const ScanHow how) {
    hd::Lane<hd::BlockCursor> hd(task);
    while (hd.next()) {
        char word[2][256] = {};
        int number[2] = {};
        for (;;) {
            void *first = how.numbers & 1 ? static_cast<void *>(&number[0]) : word[0];
            void *second = how.numbers & 2 ? static_cast<void *>(&number[1]) : word[1];
            const int n = hd::scanf(hd, 1, how.format, first, second);
            if (how.wanted == -1 ? n == -1 : n != how.wanted) break;
            hd.print(hd::str(word[0]), hd::chr(' '), hd::dec(number[0]), hd::chr('|'), hd::str(word[1]), hd::chr(' '),
                     hd::dec(number[1]), hd::chr('\n'));
        }
    }
    hd.finish();
}
HD_KERNEL(scan_all, hd::Task, ScanHow)

// fgets into one byte: reads nothing, returns no null pointer.
extern "C" __global__ void read_by_ones(HD_PARAMETER const hd::Task task) {
    hd::Lane<hd::BlockCursor> hd(task);
    char byte;
    while (hd.next())
        while (hd.in.fgets(&byte, 1)) hd.print(hd::chr('\n'));
    hd.finish();
}
HD_KERNEL(read_by_ones, hd::Task)

// Loops that do not read as one record per turn: two lines a turn, and a break after the first line.
extern "C" __global__ void read_two(HD_PARAMETER const hd::Task task) {
    hd::Lane<hd::BlockCursor> hd(task);
    while (hd.next()) {
        char *line = nullptr, *second = nullptr;
        unsigned long capacity = 0, other = 0;
        while (hd.in.getline(&line, &capacity) != -1)
            if (hd.in.getline(&second, &other) != -1) hd.print(hd::str(second));
    }
    hd.finish();
}
HD_KERNEL(read_two, hd::Task)

extern "C" __global__ void read_one(HD_PARAMETER const hd::Task task) {
    hd::Lane<hd::BlockCursor> hd(task);
    while (hd.next()) {
        char *line = nullptr;
        unsigned long capacity = 0;
        while (hd.in.getline(&line, &capacity) != -1) {
            hd.print(hd::str(line));
            break;
        }
    }
    hd.finish();
}
HD_KERNEL(read_one, hd::Task)

// Lane l takes 1 + (l * turns + i) * 7 % 64 elements in its turn i.
struct TakeHow {
    uint64_t *places;
    unsigned long long *used;
    uint64_t size;
    hd::Failure *failure;
    uint32_t turns;
    uint32_t reserved;
};

extern "C" __global__ void take_all(HD_PARAMETER const TakeHow how) {
    using Cursor = hd::Cursor32<64, 17>;
    HD_SHARED(Cursor, cursor);
    if (threadIdx.x == 0) cursor.start();
    __syncthreads();
    const hd::Whole whole = {how.used, how.size, hd::Status::arena_full, how.failure};
    for (uint32_t i = 0; i < how.turns; ++i) {
        const uint32_t number = (blockIdx.x * blockDim.x + threadIdx.x) * how.turns + i;
        how.places[number] = cursor.take(whole, 0, 1 + number * 7 % 64);
    }
}
HD_KERNEL(take_all, TakeHow)
