/* European stock options: lines `id stock strike years`, prices and maturities with six decimals.
 *
 *     stock_options OUTPUT BYTES SEED THREADS
 *
 * Even over the ranges of the CUDA SDK's example: stock price 5 to 30, strike price 1 to 100, years 0.25 to 10. */
#include "generator.h"

enum { LONGEST = 64, LINES = 65536 };

static char *put_millionths(char *at, uint64_t number)
{
    at = put_number(at, number / 1000000);
    *at++ = '.';
    for (uint64_t unit = 100000; unit > 0; unit /= 10)
        *at++ = (char)('0' + number / unit % 10);
    return at;
}

static char *put_option(char *at, uint64_t id, uint64_t *state)
{
    at = put_number(at, id);
    *at++ = ' ';
    at = put_millionths(at, 5000000 + below(state, 25000001));
    *at++ = ' ';
    at = put_millionths(at, 1000000 + below(state, 99000001));
    *at++ = ' ';
    at = put_millionths(at, 250000 + below(state, 9750001));
    *at++ = '\n';
    return at;
}

static void fill(char *buffer, uint64_t size, uint64_t piece)
{
    uint64_t state = sequence(piece), id = piece * LINES + 1;
    char *at = buffer, *end = buffer + size;

    while (end - at >= LONGEST)
        at = put_option(at, id++, &state);
    if (at == end)
        return;
    memset(at > buffer ? at - 1 : at, ' ', (size_t)(end - at)); /* blanks behind the last option, or a blank line */
    end[-1] = '\n';
}

int main(int argc, char **argv)
{
    read_command_line(argc, argv, 4, "stock_options OUTPUT BYTES SEED THREADS");
    write_pieces(argv[1], atoi(argv[4]), fill);
    return 0;
}
