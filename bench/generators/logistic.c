/* Rows for a logistic regression: lines `y x1 ... x10`, y 0 or 1 and numbers with three decimals.
 *
 *     logistic OUTPUT BYTES SEED WEIGHTS THREADS
 *
 * The x are even over -2 to 2; y is 1 with the probability 1 / (1 + exp(-z)), z = 0.5 + the sum of weights[j] * xj / 1000.
 * WEIGHTS becomes the first weights for apps/logistic_regression: zeros, and the number of rows. */
#include "generator.h"
#include <math.h>

enum { FEATURES = 10, SPAN = 2000, INTERCEPT = 500, LONGEST = 2 + 7 * FEATURES, NUMBER = 8, CHANCES = 4096 };

static const int weights[FEATURES] = {1000, -750, 500, 250, -1250, 0, 750, -250, 125, -500};

/* The text of each number of thousandths from -SPAN to SPAN, with a blank behind it. */
static struct {
    char text[NUMBER];
} numbers[2 * SPAN + 1];

/* What is added to z, in thousandths, so that it is positive with the right probability: logistic quantiles. */
static int noise[CHANCES];

static atomic_uint_fast64_t rows;

static void build_tables(void)
{
    for (int n = -SPAN; n <= SPAN; n++)
        *put_thousandths(numbers[n + SPAN].text, n) = ' ';
    for (int i = 0; i < CHANCES; i++)
        noise[i] = (int)lrint(1000 * log((i + 0.5) / (CHANCES - i - 0.5)));
}

static char *put_row(char *at, uint64_t *state)
{
    char *label = at;
    int64_t z = 1000 * (INTERCEPT + noise[below(state, CHANCES)]);

    at += 2;
    for (int j = 0; j < FEATURES; j += 2) {
        uint64_t random = draw(state);
        int x[2] = {
            (int)(((random & 0xffffffff) * (2 * SPAN + 1)) >> 32) - SPAN,
            (int)(((random >> 32) * (2 * SPAN + 1)) >> 32) - SPAN,
        };

        for (int i = 0; i < 2; i++) {
            z += (int64_t)weights[j + i] * x[i];
            memcpy(at, numbers[x[i] + SPAN].text, NUMBER);
            at += x[i] < 0 ? 7 : 6;
        }
    }
    memcpy(label, z > 0 ? "1 " : "0 ", 2);
    at[-1] = '\n';
    return at;
}

static void fill(char *buffer, uint64_t size, uint64_t piece)
{
    uint64_t state = sequence(piece), made = 0;
    char *at = buffer, *end = buffer + size;

    for (; end - at >= LONGEST; made++)
        at = put_row(at, &state);
    atomic_fetch_add(&rows, made);
    if (at == end)
        return;
    memset(at > buffer ? at - 1 : at, ' ', (size_t)(end - at)); /* blanks behind the last row, or a blank line */
    end[-1] = '\n';
}

static void write_weights(const char *path)
{
    FILE *file = fopen(path, "w");

    if (file == NULL)
        die(path);
    fprintf(file, "-1\t%lu\n", (unsigned long)rows);
    for (int j = 0; j <= FEATURES; j++)
        fprintf(file, "%d\t0\n", j);
    if (ferror(file) || fclose(file) != 0)
        die(path);
}

int main(int argc, char **argv)
{
    read_command_line(argc, argv, 5, "logistic OUTPUT BYTES SEED WEIGHTS THREADS");
    build_tables();
    write_pieces(argv[1], atoi(argv[5]), fill);
    write_weights(argv[4]);
    return 0;
}
