/* What the generators of this folder share: random numbers, text made fast, and a file written in pieces by threads.
 *
 * A generator's command line is OUTPUT BYTES SEED, its own arguments, THREADS. The file has exactly BYTES bytes and depends on
 * the seed and not on the number of threads: it is made of pieces of 1 MiB, each with a random sequence of its own. */
#ifndef GENERATOR_H
#define GENERATOR_H

#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 20, SLACK = 256, MOST_THREADS = 256 };

/* Fills buffer[0..size) with whole lines; it may write SLACK bytes more. */
typedef void fill_piece(char *buffer, uint64_t size, uint64_t piece);

static const char *program;
static uint64_t total, seed;
static struct {
    atomic_uint_fast64_t next;
    int file;
    fill_piece *fill;
} pieces;

static inline void die(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", program, what, strerror(errno));
    exit(1);
}

static inline void refuse(const char *why)
{
    fprintf(stderr, "%s: %s\n", program, why);
    exit(2);
}

static inline void *allocate(uint64_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL)
        die("memory");
    return memory;
}

/* splitmix64: good enough for test data, and any start value gives a good sequence. */
static inline uint64_t draw(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The start of a sequence of its own for piece (or row, or node) `number`. */
static inline uint64_t sequence(uint64_t number)
{
    uint64_t state = seed ^ (number * 0xd1342543de82ef95u);
    draw(&state);
    return state;
}

/* A number below `n`, at most 2^32, from the upper half of a draw. */
static inline uint64_t below(uint64_t *state, uint64_t n)
{
    return ((draw(state) >> 32) * n) >> 32;
}

static inline char *put_text(char *at, const char *text)
{
    size_t length = strlen(text);
    memcpy(at, text, length);
    return at + length;
}

static inline char *put_number(char *at, uint64_t number)
{
    char digits[20];
    int n = 0;

    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (n > 0)
        *at++ = digits[--n];
    return at;
}

/* A number of thousandths, as -1.250. */
static inline char *put_thousandths(char *at, int number)
{
    unsigned size = (unsigned)(number < 0 ? -number : number);

    if (number < 0)
        *at++ = '-';
    at = put_number(at, size / 1000);
    *at++ = '.';
    *at++ = (char)('0' + size / 100 % 10);
    *at++ = (char)('0' + size / 10 % 10);
    *at++ = (char)('0' + size % 10);
    return at;
}

/* Writes `size` bytes at `start` of the file. */
static inline void write_whole(const char *buffer, uint64_t size, uint64_t start)
{
    uint64_t done = 0;

    while (done < size) {
        ssize_t n = pwrite(pieces.file, buffer + done, size - done, (off_t)(start + done));
        if (n < 0 && errno != EINTR)
            die("write");
        done += n > 0 ? (uint64_t)n : 0;
    }
}

static inline void *work_on_pieces(void *unused)
{
    char *buffer = allocate(PIECE + SLACK, 1);

    (void)unused;
    for (;;) {
        uint64_t piece = atomic_fetch_add(&pieces.next, 1), start = piece * PIECE, size;
        if (start >= total)
            break;
        size = total - start < PIECE ? total - start : PIECE;
        pieces.fill(buffer, size, piece);
        write_whole(buffer, size, start);
    }
    free(buffer);
    return NULL;
}

/* Takes OUTPUT's size, the seed and THREADS from the command line of `count` arguments. Ends the program where it cannot be. */
static inline void read_command_line(int argc, char **argv, int count, const char *usage)
{
    program = argv[0];
    if (argc != count + 1) {
        fprintf(stderr, "usage: %s\n", usage);
        exit(2);
    }
    total = strtoull(argv[2], NULL, 10);
    seed = strtoull(argv[3], NULL, 10);
    if (atoi(argv[count]) < 1 || atoi(argv[count]) > MOST_THREADS)
        refuse("1 to 256 threads");
}

/* Opens the file `path` and lets `n_threads` threads do `work`, which writes it. */
static inline void write_with_threads(const char *path, int n_threads, void *(*work)(void *))
{
    pthread_t threads[MOST_THREADS];

    pieces.file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (pieces.file < 0)
        die(path);
    for (int i = 0; i < n_threads; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            die("thread");
    for (int i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    if (close(pieces.file) != 0)
        die("close");
}

/* Writes the file `path` of `total` bytes. */
static inline void write_pieces(const char *path, int n_threads, fill_piece *fill)
{
    pieces.fill = fill;
    write_with_threads(path, n_threads, work_on_pieces);
}

#endif
