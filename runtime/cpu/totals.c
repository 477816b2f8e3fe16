/* Linked into epilogues: puts what a task's records have gathered into the program's variables, and leaves stdin at its end.
 *
 * An epilogue is the user's own program whose region does not run; calls of these functions stand in its place
 * (compiler/emit/epilogue.py). stdin is the task's totals, as a device had them (struct Totals of the kernel), and nothing else.
 * A variable keeps what the code before the region gave it, as the filter's first record finds it, and what was gathered is
 * added to that. Compiled apart from the user's program; only names that C reserves are called, since the user may have
 * functions of any other name.
 */
#define _GNU_SOURCE 1

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __GLIBC__
extern ssize_t __read(int, void *, size_t);
#define read_some __read
#else
#define read_some read
#endif

enum { CANNOT_READ = 125, CANNOT_TELL = 124 }; /* CANNOT_TELL: host/task/epilogue.cpp knows it */
enum operation { SUM, LEAST, GREATEST, ALL_BITS, ANY_BITS, ODD_BITS, FIRST_LEAST, LAST_LEAST, FIRST_GREATEST, LAST_GREATEST };

void hd_totals_read(unsigned long size);
void hd_total(void *object, unsigned long bytes, unsigned long expected, unsigned long base, unsigned long at,
              unsigned long count, unsigned long inner, unsigned long stride, int size, int operation);
void hd_total_memory(void *start, unsigned long most, unsigned long base, unsigned long at, unsigned long count,
                     unsigned long inner, unsigned long stride, int size, int operation);
void hd_totals_end(void);

static unsigned char *totals;
static unsigned long totals_size;

/* The program's name is the filter's, which has no ".epilogue" behind it. glibc gives a constructor main()'s arguments. */
__attribute__((constructor(101))) static void be_the_filter(int argc, char **argv)
{
#ifdef __GLIBC__
    static const char mine[] = ".epilogue";
    const size_t length = argc > 0 ? strlen(argv[0]) : 0;

    if (length > sizeof mine - 1 && strcmp(argv[0] + length - (sizeof mine - 1), mine) == 0)
        argv[0][length - (sizeof mine - 1)] = '\0';
#else
    (void)argc, (void)argv;
#endif
}

void hd_totals_read(unsigned long size)
{
    unsigned long have = 0;

    totals = malloc(size + 1);
    totals_size = size;
    if (totals == NULL)
        _Exit(CANNOT_READ);
    while (have < size) {
        ssize_t n = read_some(0, totals + have, size - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _Exit(CANNOT_READ);
        have += (unsigned long)n;
    }
}

/* An integer of 1, 2, 4 or 8 bytes in 64, by its sign where it has one. */
static uint64_t load(const unsigned char *from, unsigned size, int is_signed)
{
    uint64_t value = 0;
    const unsigned unused = 64 - 8 * size;

    memcpy(&value, from, size);
    return is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

static int is_less(uint64_t a, uint64_t b, int is_signed)
{
    return is_signed ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t joined(uint64_t a, uint64_t b, enum operation operation, int is_signed)
{
    switch (operation) {
    case SUM:
        return a + b;
    case LEAST:
        return is_less(b, a, is_signed) ? b : a;
    case GREATEST:
        return is_less(a, b, is_signed) ? b : a;
    case ALL_BITS:
        return a & b;
    case ANY_BITS:
        return a | b;
    case ODD_BITS:
        return a ^ b;
    default:
        return a;
    }
}

/* A floating-point number and the part of the records, as the program compares them. A part that is a NaN has seen zeros of both
 * signs: where that is what is kept, the records' order says which, and nobody has it here. */
static double joined_real(double a, double b, enum operation operation)
{
    const int least = operation == FIRST_LEAST || operation == LAST_LEAST;

    if (b != b) {
        if (least ? a >= 0 : a <= 0)
            _Exit(CANNOT_TELL);
        return a;
    }
    switch (operation) {
    case FIRST_LEAST:
        return b < a ? b : a;
    case LAST_LEAST:
        return b <= a ? b : a;
    case FIRST_GREATEST:
        return b > a ? b : a;
    default:
        return b >= a ? b : a;
    }
}

static void join_real(unsigned char *to, const unsigned char *from, unsigned size, enum operation operation)
{
    if (size == sizeof(double)) {
        double a, b;
        memcpy(&a, to, sizeof a);
        memcpy(&b, from, sizeof b);
        if (a != a)
            return; /* whatever its bytes */
        a = joined_real(a, b, operation);
        memcpy(to, &a, sizeof a);
    } else {
        float a, b;
        memcpy(&a, to, sizeof a);
        memcpy(&b, from, sizeof b);
        if (a != a)
            return;
        a = (float)joined_real(a, b, operation);
        memcpy(to, &a, sizeof a);
    }
}

static void join(unsigned char *to, const unsigned char *from, unsigned each, int is_signed, enum operation operation)
{
    if (operation >= FIRST_LEAST) {
        join_real(to, from, each, operation);
    } else {
        const uint64_t value = joined(load(to, each, is_signed), load(from, each, is_signed), operation, is_signed);
        memcpy(to, &value, each);
    }
}

/* `count` numbers of the variable at `object`, and those of the totals, where it begins at `base`: the first is `at` bytes from
 * there, `inner` lie one behind the other, and the next as many `stride` bytes further; `size` of each, negative where they have no
 * sign. `bytes`: of the variable, as it is and as it is `expected`; `object` may be memory that there is not. */
void hd_total(void *object, unsigned long bytes, unsigned long expected, unsigned long base, unsigned long at,
              unsigned long count, unsigned long inner, unsigned long stride, int size, int operation)
{
    const unsigned each = (unsigned)(size > 0 ? size : -size);

    if (object == NULL || bytes != expected || base + bytes > totals_size)
        _Exit(CANNOT_READ);
    for (unsigned long i = 0; i < count; i++) {
        const unsigned long place = at + i / inner * stride + i % inner * each;
        join((unsigned char *)object + place, totals + base + place, each, size > 0, (enum operation)operation);
    }
}

/* The same of memory of the heap whose size the program computes, of the `most` bytes that the totals have for it. Nothing was
 * gathered behind its end: the last number there is one that no record reaches. */
void hd_total_memory(void *start, unsigned long most, unsigned long base, unsigned long at, unsigned long count,
                     unsigned long inner, unsigned long stride, int size, int operation)
{
    const unsigned each = (unsigned)(size > 0 ? size : -size);
    const unsigned long room = start != NULL ? malloc_usable_size(start) : 0;
    const unsigned long last = at + (count - 1) / inner * stride + (count - 1) % inner * each;

    if (start == NULL || room > most || base + most > totals_size)
        _Exit(CANNOT_READ);
    for (unsigned long i = 0; i < count; i++) {
        const unsigned long place = at + i / inner * stride + i % inner * each;
        if (place + each <= room)
            join((unsigned char *)start + place, totals + base + place, each, size > 0, (enum operation)operation);
        else if (memcmp(totals + base + place, totals + base + last, each) != 0)
            _Exit(CANNOT_READ);
    }
}

/* The filter has read its stdin to the end. */
void hd_totals_end(void)
{
    free(totals);
    totals = NULL;
    if (getc(stdin) != EOF)
        _Exit(CANNOT_READ);
}
