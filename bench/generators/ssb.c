/* Star Schema Benchmark data: the table lineorder, and the dimensions date, part and supplier that go with it.
 *
 *     ssb OUTPUT BYTES SEED PARTS SUPPLIERS DATE PART SUPPLIER THREADS
 *
 * Columns, value ranges and text form (fields end in '|') are those of O'Neil, O'Neil, Chen: "Star Schema Benchmark",
 * revision 3, 2009. Keys are dense, 1 to PARTS and 1 to SUPPLIERS; scale factor 1 has 200000 parts and 2000 suppliers. The
 * last line of a piece is filled up with blanks behind the shipping mode. */
#include "generator.h"
#include <time.h>

enum { LONGEST = 128, MOST_LINES = 7, ORDER_DAYS = 2406, DATE_DAYS = 2557, CUSTOMERS = 30000, ORDERS_PER_PIECE = 1 << 14 };

static const char *const regions[] = { "AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST" };
static const char *const nations[] = {
    "ALGERIA", "ETHIOPIA", "KENYA", "MOROCCO", "MOZAMBIQUE", "ARGENTINA", "BRAZIL", "CANADA", "PERU", "UNITED STATES",
    "CHINA", "INDIA", "INDONESIA", "JAPAN", "VIETNAM", "FRANCE", "GERMANY", "ROMANIA", "RUSSIA", "UNITED KINGDOM",
    "EGYPT", "IRAN", "IRAQ", "JORDAN", "SAUDI ARABIA",
};
static const char *const modes[] = { "AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK" };
static const char *const priorities[] = { "1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECI", "5-LOW" };
static const char *const colours[] = {
    "almond", "azure", "blue", "chocolate", "forest", "lemon", "maroon", "olive", "plum", "sky",
};

static uint64_t parts, suppliers;
static char date_keys[DATE_DAYS + 100][9];

struct order {
    uint64_t key, customer, day, lines, priority;
};

static struct tm day_of(uint64_t day)
{
    time_t seconds = (time_t)(8035 + day) * 86400; /* 8035 days from 1970 to 1992-01-01 */
    struct tm date;

    gmtime_r(&seconds, &date);
    return date;
}

/* Price of one piece of a part, in cents, as TPC-H has it: from 900.01 up. */
static uint64_t price(uint64_t part)
{
    return 90000 + part / 10 % 20001 + 100 * (part % 1000);
}

static char *put_line(char *at, uint64_t *state, const struct order *order, uint64_t number)
{
    uint64_t part = 1 + below(state, parts), quantity = 1 + below(state, 50), discount = below(state, 11);
    uint64_t extended = quantity * price(part), revenue = extended * (100 - discount) / 100;
    uint64_t fields[] = { order->key, number, order->customer, part, 1 + below(state, suppliers) };
    uint64_t numbers[] = { quantity, extended, 4 * extended, discount, revenue, 6 * price(part) / 10, below(state, 9) };

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        at = put_number(at, fields[i]);
        *at++ = '|';
    }
    at = put_text(put_text(at, date_keys[order->day]), "|");
    at = put_text(put_text(at, priorities[order->priority]), "|0|");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        at = put_number(at, numbers[i]);
        *at++ = '|';
    }
    at = put_text(put_text(at, date_keys[order->day + 30 + below(state, 61)]), "|");
    return put_text(put_text(at, modes[below(state, 7)]), "|\n");
}

static struct order next_order(uint64_t *state, uint64_t key)
{
    struct order order = { .key = key };

    order.customer = 1 + below(state, CUSTOMERS);
    order.day = below(state, ORDER_DAYS);
    order.lines = 1 + below(state, MOST_LINES);
    order.priority = below(state, 5);
    return order;
}

static void fill(char *buffer, uint64_t size, uint64_t piece)
{
    uint64_t state = sequence(piece), key = piece * ORDERS_PER_PIECE;
    char *at = buffer, *end = buffer + size;

    while (end - at >= 2 * LONGEST) {
        struct order order = next_order(&state, ++key);
        for (uint64_t number = 1; number <= order.lines && end - at >= 2 * LONGEST; number++)
            at = put_line(at, &state, &order, number);
    }
    if (size > 0) { /* one line more takes the room that is left */
        struct order order = next_order(&state, ++key);
        at = put_line(at, &state, &order, 1) - 2;
        memset(at, ' ', (size_t)(end - at) - 2);
        memcpy(end - 2, "|\n", 2);
    }
}

static FILE *open_table(const char *path)
{
    FILE *table = fopen(path, "w");
    if (table == NULL)
        die(path);
    return table;
}

static void close_table(FILE *table, const char *path)
{
    if (ferror(table) || fclose(table) != 0)
        die(path);
}

static const char *season(const struct tm *date)
{
    static const char *const names[] = { "Winter", "Spring", "Summer", "Fall" };
    return date->tm_mon == 11 && date->tm_mday <= 25 ? "Christmas" : names[(date->tm_mon + 1) % 12 / 3];
}

static void write_dates(const char *path)
{
    FILE *table = open_table(path);

    for (uint64_t day = 0; day < DATE_DAYS; day++) {
        struct tm date = day_of(day);
        struct tm tomorrow = day_of(day + 1);
        char head[128], name[16];

        strftime(head, sizeof head, "%Y%m%d|%B %d, %Y|%A|%B|%Y|%Y%m|", &date);
        strftime(name, sizeof name, "%b%Y", &date);
        fprintf(table, "%s%s|%d|%d|%d|%d|%d|%s|%d|%d|%d|%d|\n", head, name, date.tm_wday + 1, date.tm_mday, date.tm_yday + 1,
                date.tm_mon + 1, date.tm_yday / 7 + 1, season(&date), date.tm_wday == 6, tomorrow.tm_mon != date.tm_mon,
                date.tm_mon == 11 && date.tm_mday == 25, date.tm_wday > 0 && date.tm_wday < 6);
    }
    close_table(table, path);
}

static void write_parts(const char *path)
{
    FILE *table = open_table(path);

    for (uint64_t part = 1; part <= parts; part++) {
        uint64_t state = sequence(~part), maker = 1 + below(&state, 5), category = 1 + below(&state, 5);
        uint64_t brand = 1 + below(&state, 40), size = 1 + below(&state, 50);
        const char *first = colours[below(&state, 10)], *second = colours[below(&state, 10)];

        fprintf(table, "%lu|%s %s|MFGR#%lu|MFGR#%lu%lu|MFGR#%lu%lu%lu|%s|STANDARD POLISHED TIN|%lu|JUMBO PKG|\n", part, first,
                second, maker, maker, category, maker, category, brand, second, size);
    }
    close_table(table, path);
}

static void write_suppliers(const char *path)
{
    FILE *table = open_table(path);

    for (uint64_t supplier = 1; supplier <= suppliers; supplier++) {
        uint64_t state = sequence(~(supplier << 32)), nation = below(&state, 25), city = below(&state, 10);
        uint64_t house = 1 + below(&state, 99), phone = draw(&state);

        fprintf(table, "%lu|Supplier#%09lu|%s street %lu|%-9.9s%lu|%s|%s|%02lu-%03lu-%03lu-%04lu|\n", supplier, supplier,
                colours[house % 10], house, nations[nation], city, nations[nation], regions[nation / 5], 10 + nation,
                phone % 1000, (phone >> 16) % 1000, (phone >> 32) % 10000);
    }
    close_table(table, path);
}

int main(int argc, char **argv)
{
    read_command_line(argc, argv, 9, "ssb OUTPUT BYTES SEED PARTS SUPPLIERS DATE PART SUPPLIER THREADS");
    parts = strtoull(argv[4], NULL, 10);
    suppliers = strtoull(argv[5], NULL, 10);
    if (parts < 1 || parts > UINT32_MAX || suppliers < 1 || suppliers > UINT32_MAX)
        refuse("1 to 4294967295 parts and suppliers");
    if (total % PIECE > 0 && total % PIECE < LONGEST)
        refuse("the size must leave room for a line of 128 bytes in the last MiB");
    for (uint64_t day = 0; day < sizeof date_keys / sizeof *date_keys; day++) {
        struct tm date = day_of(day);
        strftime(date_keys[day], sizeof date_keys[day], "%Y%m%d", &date);
    }
    write_dates(argv[6]);
    write_parts(argv[7]);
    write_suppliers(argv[8]);
    write_pieces(argv[1], atoi(argv[9]), fill);
    return 0;
}
