/* Rows for a linear regression: lines `y x1 ... x12` of numbers with three decimals.
 *
 *     rows OUTPUT BYTES SEED THREADS
 *
 * The x are even over -10 to 10, y is the sum of weights[j] * xj / 1000 and noise that is even over -0.5 to 0.5. */
#include "generator.h"

enum { REGRESSORS = 12, SPAN = 9999, NOISE = 500, LONGEST = 7 + 7 * REGRESSORS + 1, NUMBER = 8 };

static const int weights[REGRESSORS] = {750, -500, 250, 600, -350, 100, -700, 450, -150, 300, -600, 200};

/* The text of each number of thousandths from -SPAN to SPAN, with a blank behind it. */
static struct {
    char text[NUMBER];
} numbers[2 * SPAN + 1];

static void build_numbers(void)
{
    for (int n = -SPAN; n <= SPAN; n++)
        *put_thousandths(numbers[n + SPAN].text, n) = ' ';
}

static char *put_row(char *at, uint64_t *state)
{
    int x[REGRESSORS], y = 0;

    for (int j = 0; j < REGRESSORS; j += 2) {
        uint64_t random = draw(state);
        x[j] = (int)(((random & 0xffffffff) * (2 * SPAN + 1)) >> 32) - SPAN;
        x[j + 1] = (int)(((random >> 32) * (2 * SPAN + 1)) >> 32) - SPAN;
        y += weights[j] * x[j] + weights[j + 1] * x[j + 1];
    }
    at = put_thousandths(at, y / 1000 + (int)below(state, 2 * NOISE + 1) - NOISE);
    *at++ = ' ';
    for (int j = 0; j < REGRESSORS; j++) {
        memcpy(at, numbers[x[j] + SPAN].text, NUMBER);
        at += x[j] < 0 ? 7 : 6;
    }
    at[-1] = '\n';
    return at;
}

static void fill(char *buffer, uint64_t size, uint64_t piece)
{
    uint64_t state = sequence(piece);
    char *at = buffer, *end = buffer + size;

    while (end - at >= LONGEST)
        at = put_row(at, &state);
    if (at == end)
        return;
    memset(at > buffer ? at - 1 : at, ' ', (size_t)(end - at)); /* blanks behind the last row, or a blank line */
    end[-1] = '\n';
}

int main(int argc, char **argv)
{
    read_command_line(argc, argv, 4, "rows OUTPUT BYTES SEED THREADS");
    build_numbers();
    write_pieces(argv[1], atoi(argv[4]), fill);
    return 0;
}
