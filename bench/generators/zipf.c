/* Zipf text: words of a made-up vocabulary, the word of rank r with a probability proportional to 1/r^s.
 *
 *     zipf OUTPUT BYTES SEED VOCABULARY EXPONENT THREADS
 *
 * Lines of 60 to 100 bytes or little more, ASCII, ending in \n. */
#include "generator.h"
#include <math.h>
#include <sys/mman.h>

enum { SLOT = 12, LONGEST = 7, LINE_MIN = 60, LINE_MAX = 100, BATCH = 64, HUGE_PAGE = 2 << 20 };

/* One column of Vose's alias table: below `threshold` the column's own word, else the other one; both texts lie here,
 * so that a draw touches one cache line. */
struct column {
    uint32_t threshold;
    uint8_t length[2];
    char text[2][SLOT];
};

static struct column *columns;
static uint64_t n_columns;

/* The word of a rank: syllables of a consonant and a vowel, three quarters of them with a consonant at the end. Distinct
 * for distinct ranks; frequent words are short, as in a language. Returns the length, `word` is followed by a blank. */
static int spell(uint64_t rank, char *word)
{
    static const char consonants[] = "bcdfghjklmnprstvwxyz", vowels[] = "aeiou";
    uint64_t state = seed * 1000003 + rank, number = rank + 1;
    int syllables = 0, n = 0, digits[3];

    while (number > 0 && syllables < 3) { /* bijective base 100 */
        digits[syllables++] = (int)((number - 1) % 100);
        number = (number - 1) / 100;
    }
    while (syllables-- > 0) {
        word[n++] = consonants[digits[syllables] / 5];
        word[n++] = vowels[digits[syllables] % 5];
    }
    if (draw(&state) % 4 != 0)
        word[n++] = consonants[draw(&state) % 20];
    word[n] = ' ';
    return n;
}

/* Vose's alias method over `vocabulary` words: one column a word. */
static void build_columns(uint64_t vocabulary, double exponent)
{
    double *share = allocate(vocabulary, sizeof *share), sum = 0;
    uint64_t *small = allocate(vocabulary, sizeof *small), *large = allocate(vocabulary, sizeof *large);
    uint64_t n_small = 0, n_large = 0, i;

    uint64_t bytes = (vocabulary * sizeof *columns + HUGE_PAGE - 1) & ~(uint64_t)(HUGE_PAGE - 1);

    n_columns = vocabulary;
    columns = aligned_alloc(HUGE_PAGE, bytes);
    if (columns == NULL)
        die("memory");
    madvise(columns, bytes, MADV_HUGEPAGE); /* a draw is a random access: 4 KiB pages cost three times as much */
    for (i = 0; i < vocabulary; i++)
        sum += share[i] = pow((double)(i + 1), -exponent);
    for (i = 0; i < vocabulary; i++) {
        share[i] *= (double)vocabulary / sum;
        columns[i].threshold = UINT32_MAX;
        columns[i].length[0] = columns[i].length[1] = (uint8_t)spell(i, columns[i].text[0]);
        memcpy(columns[i].text[1], columns[i].text[0], SLOT);
        if (share[i] < 1)
            small[n_small++] = i;
        else
            large[n_large++] = i;
    }
    while (n_small > 0 && n_large > 0) {
        uint64_t less = small[--n_small], more = large[n_large - 1];
        columns[less].threshold = (uint32_t)(share[less] * UINT32_MAX);
        columns[less].length[1] = columns[more].length[0];
        memcpy(columns[less].text[1], columns[more].text[0], SLOT);
        share[more] -= 1 - share[less];
        if (share[more] < 1) {
            n_large--;
            small[n_small++] = more;
        }
    }
    free(share);
    free(small);
    free(large);
}

/* Draws a batch of words ahead: the table is larger than the second-level cache, and waiting for each of its lines in
 * turn would take most of the time. */
static void draw_ahead(uint64_t *state, uint64_t *drawn)
{
    for (int i = 0; i < BATCH; i++) {
        drawn[i] = draw(state);
        __builtin_prefetch(&columns[((drawn[i] >> 32) * n_columns) >> 32]);
    }
}

/* Fills buffer[0..size) with whole lines. Each word is stored as SLOT bytes and then cut, which needs room behind it. */
static void fill(char *buffer, uint64_t size, uint64_t piece)
{
    uint64_t state = sequence(piece), at = 0, line_end = 0, drawn[BATCH];
    int next = BATCH;

    while (size - at > LONGEST + 2) {
        const struct column *column;
        uint64_t random;
        int other;

        if (next == BATCH) {
            draw_ahead(&state, drawn);
            next = 0;
        }
        random = drawn[next++];
        if (at >= line_end) {
            if (at > 0)
                buffer[at - 1] = '\n';
            line_end = at + LINE_MIN + (uint32_t)random % (LINE_MAX - LINE_MIN);
        }
        column = &columns[((random >> 32) * n_columns) >> 32];
        other = (uint32_t)random > column->threshold;
        memcpy(buffer + at, column->text[other], SLOT);
        at += column->length[other] + 1u;
    }
    memset(buffer + at, 'o', size - at); /* the piece's last word fills it up */
    if (size > 0)
        buffer[size - 1] = '\n';
}

int main(int argc, char **argv)
{
    uint64_t vocabulary;

    read_command_line(argc, argv, 6, "zipf OUTPUT BYTES SEED VOCABULARY EXPONENT THREADS");
    vocabulary = strtoull(argv[4], NULL, 10);
    if (vocabulary < 1 || vocabulary > 1000000)
        refuse("1 to 1000000 words");
    build_columns(vocabulary, atof(argv[5]));
    write_pieces(argv[1], atoi(argv[6]), fill);
    return 0;
}
