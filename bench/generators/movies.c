/* Movie ratings: lines `movie:user_rating,user_rating,...`, the form of PUMA's movie data.
 *
 *     movies OUTPUT BYTES SEED LONG_LINE RATERS THREADS
 *
 * Lengths of lines are lognormal with a median of 110 bytes, cut at 5546: mean 253, 99th percentile 2255. Movies have
 * different ids, users are the Netflix Prize's 2.6 million, ratings are 1 to 5 and depend on how good the movie is. With
 * LONG_LINE not 0, the first line has that many bytes (Netflix's longest has 2.7 million).
 *
 * With RATERS not 0 only so many users rate (Netflix's are 480,189), and some far more than others: the one of rank r in
 * proportion to 1/sqrt(r). Then movies share reviewers about as often as Netflix's do; empty reviews end some lines. */
#include "generator.h"
#include <math.h>

enum { MEDIAN = 110, LONGEST = 5546, SHORTEST = 16, USERS = 2649429, QUALITIES = 8, LINES = 8192, LAST_REVIEWS = 9,
       SCATTER = 1000003 };

static const double SIGMA = 1.2983;
static char ratings[QUALITIES][256];
static char four_digits[10000][4];
static uint64_t long_line, raters;

/* A movie of quality q gets 1 + binomial(4, (q + 5) / 16) stars. */
static void build_tables(void)
{
    static const int choose[] = {1, 4, 6, 4, 1};

    for (int q = 0; q < QUALITIES; q++) {
        double p = (q + 5) / 16.0, sum = 0;
        int at = 0;
        for (int k = 0; k < 5; k++) {
            sum += choose[k] * pow(p, k) * pow(1 - p, 4 - k);
            for (; at < 256 && at < (int)(sum * 256 + 0.5); at++)
                ratings[q][at] = (char)('1' + k);
        }
    }
    for (int n = 0; n < 10000; n++)
        for (int i = 3, rest = n; i >= 0; i--, rest /= 10)
            four_digits[n][i] = (char)('0' + rest % 10);
}

/* A user's number; of raters the ranks are scattered over all numbers. */
static inline uint32_t draw_user(uint64_t random)
{
    uint64_t high = random >> 32;

    if (raters == 0)
        return (uint32_t)((high * USERS) >> 32) + 1;
    return (uint32_t)(((((high * high) >> 32) * raters) >> 32) * SCATTER % USERS) + 1;
}

/* How many digits a user number has, by its draw. */
static inline uint64_t digits_of(uint32_t number)
{
    return 1 + (number >= 10) + (number >= 100) + (number >= 1000) + (number >= 10000) + (number >= 100000) + (number >= 1000000);
}

/* Fills exactly `length` bytes, 3 or more, with reviews: the last users' numbers are as long as the room that is left. */
static void fill_reviews(char *at, uint64_t length, uint64_t quality, uint64_t *state)
{
    static const uint32_t smallest[] = {0, 1, 10, 100, 1000, 10000, 100000, 1000000};
    char *end = at + length;

    for (;;) {
        uint64_t random = draw(state), left = (uint64_t)(end - at), digits;
        uint32_t user = draw_user(random);
        char text[16];

        digits = digits_of(user);
        if (raters != 0 && digits + 2 > left) { /* a rater's number is never cut: empty reviews fill the line */
            memset(at, ',', left);
            return;
        }
        /* Another review of 3 bytes and a comma must fit behind it. */
        if (raters == 0 && (left <= LAST_REVIEWS || digits > left - 6)) {
            digits = left <= LAST_REVIEWS ? left - 2 : left - 6;
            user = smallest[digits] + user % smallest[digits];
        }
        memcpy(text, four_digits[user / 10000], 4);
        memcpy(text + 4, four_digits[user % 10000], 4);
        memcpy(at, text + 8 - digits, 8); /* what is too much is written over later */
        at += digits;
        *at++ = '_';
        *at++ = ratings[quality][random & 255];
        if (at == end)
            return;
        *at++ = ',';
    }
}

/* The length of the next line, with its line end, where `left` bytes are to be filled with lines. */
static uint64_t line_length(uint64_t left, uint64_t *state)
{
    double u = (double)((draw(state) >> 11) + 1) * 0x1p-53, angle = (double)(draw(state) >> 11) * 0x1p-53 * 2 * M_PI;
    double drawn = MEDIAN * exp(SIGMA * sqrt(-2 * log(u)) * cos(angle));
    uint64_t length = drawn > LONGEST ? LONGEST : drawn < SHORTEST ? SHORTEST : (uint64_t)drawn;

    if (length + SHORTEST > left) /* too little would be left for another line */
        length = left > LONGEST ? left - SHORTEST : left;
    return length;
}

/* The part of the long first line that lies in a piece; returns its length. */
static uint64_t fill_long_line(char *buffer, uint64_t size, uint64_t start, uint64_t *state)
{
    uint64_t length = long_line - start < size ? long_line - start : size, name = start == 0 ? 2 : 0;

    memcpy(buffer, "0:", name);
    fill_reviews(buffer + name, length - name - 1, QUALITIES / 2, state);
    buffer[length - 1] = start + length == long_line ? '\n' : ',';
    return length;
}

static void fill(char *buffer, uint64_t size, uint64_t piece)
{
    uint64_t state = sequence(piece), movie = piece * LINES + 1, at = 0;

    if (piece * PIECE < long_line)
        at = fill_long_line(buffer, size, piece * PIECE, &state);
    while (size - at >= SHORTEST) {
        uint64_t length = line_length(size - at, &state);
        char *reviews = put_number(buffer + at, movie++);

        *reviews++ = ':';
        at += length;
        fill_reviews(reviews, (uint64_t)(buffer + at - 1 - reviews), draw(&state) % QUALITIES, &state);
        buffer[at - 1] = '\n';
    }
    memset(buffer + at, '\n', size - at); /* no movie fits */
}

int main(int argc, char **argv)
{
    read_command_line(argc, argv, 6, "movies OUTPUT BYTES SEED LONG_LINE RATERS THREADS");
    long_line = strtoull(argv[4], NULL, 10);
    if (long_line > total || (long_line % PIECE != 0 && long_line % PIECE < SHORTEST))
        refuse("LONG_LINE is at most BYTES, and 0 or 16 or more bytes over a multiple of 1 MiB");
    raters = strtoull(argv[5], NULL, 10);
    if (raters > USERS)
        refuse("RATERS is at most 2649429");
    build_tables();
    write_pieces(argv[1], atoi(argv[6]), fill);
    return 0;
}
