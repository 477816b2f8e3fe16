/* Measurements of stations: lines `name;-12.3`, the form of the One Billion Row Challenge.
 *
 *     stations OUTPUT ROWS SEED STATIONS DECIMALS THREADS
 *
 * Every row is of a station drawn evenly, and of a temperature that lies within 30 degrees of the station's own mean (-10 to
 * 35 degrees; standard deviation 10), cut at 99.9. Names have 6 to 17 bytes, some of them not ASCII, and are all different.
 * DECIMALS digits follow the point, 1 in the challenge.
 *
 * Unlike the other generators' files, this one is as long as its rows are; a piece has PIECE_ROWS of them. */
#include "generator.h"

enum { PIECE_ROWS = 1 << 16, NAME = 31, MOST_DECIMALS = 9, LONGEST = NAME + 6 + MOST_DECIMALS, MOST_STATIONS = 20000000 };

/* Syllables of two letters, and endings that are none: so a name says its syllables, and names with different ones differ. */
static const char consonants[] = "bdfghjklmnprstvz", vowels[] = "aeiou";
static const char *const endings[] = {
    "", "", "", "", "", "", "ng", "st", "rk", "ntz", "\xc3\xa9", "\xc3\xa5s", " City", " Bay", "-sur-Lac", " d'Or", "-\xe6\x9d\xb1",
};
enum { VOWELS = sizeof vowels - 1, SYLLABLES = (sizeof consonants - 1) * VOWELS, ENDINGS = sizeof endings / sizeof *endings };

struct station {
    unsigned char length;
    char name[NAME]; /* and the semicolon */
    int64_t mean;    /* in units of the last decimal */
};

static struct station *stations;
static uint64_t count, decimals, unit; /* a degree has so many units */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint64_t next, end; /* the piece that comes next into the file, and where */
} order = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 };

/* Three syllables where these are enough for twice as many stations, else as many as are; station i has those of number
 * i * step, which are scattered and different because step and the number of all combinations have no common factor. */
static void build_stations(void)
{
    uint64_t all = SYLLABLES * SYLLABLES * SYLLABLES, step = 37199;
    int syllables = 3;

    for (; all < 2 * count; all *= SYLLABLES)
        syllables++;
    stations = allocate(count, sizeof *stations);
    for (uint64_t i = 0; i < count; i++) {
        struct station *made = &stations[i];
        uint64_t state = sequence(~i), number = (i * step + seed) % all;
        char *at = made->name;

        for (int s = 0; s < syllables; s++, number /= SYLLABLES) {
            *at++ = consonants[number % SYLLABLES / VOWELS];
            *at++ = vowels[number % VOWELS];
        }
        made->name[0] = (char)(made->name[0] - 'a' + 'A');
        at = put_text(at, endings[below(&state, ENDINGS)]);
        *at++ = ';';
        made->length = (unsigned char)(at - made->name);
        made->mean = (int64_t)below(&state, 450) * (int64_t)unit / 10 - 10 * (int64_t)unit;
    }
}

static char *put_temperature(char *at, int64_t value)
{
    uint64_t size = (uint64_t)(value < 0 ? -value : value), rest = size % unit;

    if (value < 0)
        *at++ = '-';
    at = put_number(at, size / unit);
    *at++ = '.';
    for (uint64_t d = decimals; d > 0; d--, rest /= 10)
        at[d - 1] = (char)('0' + rest % 10);
    return at + decimals;
}

static char *put_row(char *at, uint64_t *state)
{
    const struct station *chosen = &stations[below(state, count)];
    uint64_t random = draw(state), width = 20 * unit; /* of each of three even numbers, whose sum has the deviation width / 2 */
    int64_t value = chosen->mean - 30 * (int64_t)unit, most = 999 * (int64_t)unit / 10;

    for (int i = 0; i < 3; i++, random >>= 21)
        value += (int64_t)(((random & 0x1fffff) * width) >> 21);
    memcpy(at, chosen->name, sizeof chosen->name);
    at = put_temperature(at + chosen->length, value > most ? most : value < -most ? -most : value);
    *at++ = '\n';
    return at;
}

/* Where a piece of `size` bytes comes in the file: pieces take their places in turn, as their sizes get known. */
static uint64_t take_place(uint64_t piece, uint64_t size)
{
    uint64_t start;

    pthread_mutex_lock(&order.lock);
    while (order.next != piece)
        pthread_cond_wait(&order.moved, &order.lock);
    start = order.end;
    order.end += size;
    order.next++;
    pthread_cond_broadcast(&order.moved);
    pthread_mutex_unlock(&order.lock);
    return start;
}

static void *work(void *unused)
{
    char *buffer = allocate(PIECE_ROWS + 1, LONGEST);

    (void)unused;
    for (;;) {
        uint64_t piece = atomic_fetch_add(&pieces.next, 1), first = piece * PIECE_ROWS, state = sequence(piece);
        char *at = buffer;

        if (first >= total)
            break;
        for (uint64_t row = first; row < total && row < first + PIECE_ROWS; row++)
            at = put_row(at, &state);
        write_whole(buffer, (uint64_t)(at - buffer), take_place(piece, (uint64_t)(at - buffer)));
    }
    free(buffer);
    return NULL;
}

int main(int argc, char **argv)
{
    read_command_line(argc, argv, 6, "stations OUTPUT ROWS SEED STATIONS DECIMALS THREADS");
    count = strtoull(argv[4], NULL, 10);
    decimals = strtoull(argv[5], NULL, 10);
    if (count < 1 || count > MOST_STATIONS)
        refuse("1 to 20000000 stations");
    if (decimals < 1 || decimals > MOST_DECIMALS)
        refuse("1 to 9 decimals");
    unit = 1;
    for (uint64_t d = 0; d < decimals; d++)
        unit *= 10;
    build_stations();
    write_with_threads(argv[1], atoi(argv[6]), work);
    return 0;
}
