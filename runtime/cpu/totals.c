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

enum { CANNOT_READ = 125 };
enum operation { SUM, LEAST, GREATEST, ALL_BITS, ANY_BITS, ODD_BITS };

void hd_totals_read(unsigned long size);
void hd_total(void *object, unsigned long at, unsigned long count, int size, int operation, int bytes);
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
    }
    return a;
}

/* `count` integers at `object`, `bytes` in all, those of the totals from `at` on; `size` of each, negative where they have no
 * sign. */
void hd_total(void *object, unsigned long at, unsigned long count, int size, int operation, int bytes)
{
    const int is_signed = size > 0;
    const unsigned each = (unsigned)(size > 0 ? size : -size);
    unsigned char *to = object;

    if ((unsigned long)bytes != count * each || at + count * each > totals_size)
        _Exit(CANNOT_READ);
    for (unsigned long i = 0; i < count; i++, to += each) {
        const uint64_t part = load(totals + at + i * each, each, is_signed);
        const uint64_t value = joined(load(to, each, is_signed), part, (enum operation)operation, is_signed);
        memcpy(to, &value, each);
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
