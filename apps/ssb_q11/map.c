/* Star Schema Benchmark, query 1.1, map: the discounts that were given in 1993 on small orders. The dimension `date` is read
 * before the loop, so the join is a look-up in a table. */
#include <stdio.h>
#include <stdlib.h>

#define GROUP_SIZE 16 /* bytes of the longest key, with its final '\0' */
#define FIRST_DAY 19920101
#define LAST_DAY 19981231
#define DAYS (LAST_DAY - FIRST_DAY + 1)

static short year[DAYS]; /* of a date key, less FIRST_DAY; 0 for no date */

static void read_dates(const char *path)
{
    char row[512];
    FILE *table = fopen(path, "r");

    if (table == NULL) {
        perror(path);
        exit(1);
    }
    while (fgets(row, sizeof row, table) != NULL) {
        int day, of_year;

        if (sscanf(row, "%d|%*[^|]|%*[^|]|%*[^|]|%d|", &day, &of_year) != 2 || day < FIRST_DAY || day > LAST_DAY) {
            fprintf(stderr, "%s: not a row of the date table: %s", path, row);
            exit(1);
        }
        year[day - FIRST_DAY] = (short)of_year;
    }
    fclose(table);
}

/* Where the field stands that comes `fields` after the one at `at`. */
static const char *skip(const char *at, int fields)
{
    while (fields > 0 && *at != '\0')
        if (*at++ == '|')
            fields--;
    return at;
}

int main(void)
{
    char *line = NULL;
    const char *at;
    char group[GROUP_SIZE] = "revenue"; /* of the only group */
    size_t size = 0;
    long long revenue;
    int day, quantity, price, discount;

    read_dates("date.tbl");

#pragma mapreduce mapper key(group) value(revenue) kvpairs(1) sharedRO(group, year)
    while (getline(&line, &size, stdin) != -1) {
        at = skip(line, 5);
        day = atoi(at) - FIRST_DAY;
        at = skip(at, 3);
        quantity = atoi(at);
        at = skip(at, 1);
        price = atoi(at);
        at = skip(at, 2);
        discount = atoi(at);
        if (discount < 1 || discount > 3 || quantity >= 25)
            continue;
        if (day < 0 || day >= DAYS || year[day] != 1993)
            continue;
        revenue = (long long)price * discount;
        printf("%s\t%lld\n", group, revenue);
    }
    free(line);
    return 0;
}
