/* What the parts of the probe share: a hash of all that one function says, and texts to give it.
 *
 * A behaviour is a line of output: a function's name and the hash of its results, every byte that it writes and errno, over
 * fixed and seeded random arguments. The same line on two machines means the same bytes in programs, as far as these go.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t digest, seed;

static void begin(void)
{
    digest = 0xcbf29ce484222325ull;
    seed = 0x9e3779b97f4a7c15ull;
}

static void add(const void *data, size_t size)
{
    const unsigned char *at = data;

    while (size-- > 0)
        digest = (digest ^ *at++) * 0x100000001b3ull;
}

static void add_number(long number)
{
    add(&number, sizeof number);
}

static void add_text(const char *text)
{
    if (text == NULL)
        add_number(-1);
    else
        add(text, strlen(text) + 1);
}

static void end(const char *name)
{
    printf("%s %016llx\n", name, (unsigned long long)digest);
}

static uint64_t random_bits(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed * 0x2545f4914f6cdd1dull >> 8;
}

static unsigned below(unsigned limit)
{
    return (unsigned)(random_bits() % limit);
}

/* Up to `most` letters of an alphabet, with a NUL. */
static char *letters(char *to, const char *alphabet, unsigned most)
{
    unsigned size = below(most + 1), count = (unsigned)strlen(alphabet);
    char *at = to;

    while (size-- > 0)
        *at++ = alphabet[below(count)];
    *at = 0;
    return to;
}

static double random_double(void)
{
    uint64_t bits = random_bits() << 20 ^ random_bits();
    double value;

    if (below(3) == 0)
        return (double)((int64_t)bits % 2000000) / (below(2) ? 1000 : 64);
    memcpy(&value, &bits, sizeof value);
    return value;
}

void probe_numbers(void), probe_scan(void), probe_print(void), probe_strings(void), probe_math(void), probe_language(void),
    probe_sorts(void);
