/* Star Schema Benchmark, query 2.1, map: the revenue of parts of category MFGR#12 from suppliers in America, by year and
 * brand. The dimensions are read before the loop, so the three joins are look-ups in tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_SIZE 32 /* bytes of the longest key, with its final '\0' */
#define FIRST_DAY 19920101
#define LAST_DAY 19981231
#define DAYS (LAST_DAY - FIRST_DAY + 1)
#define MAX_PARTS 2000000     /* scale factor 512 */
#define MAX_SUPPLIERS 1000000 /* scale factor 500 */

static short year[DAYS];                  /* of a date key, less FIRST_DAY; 0 for no date */
static short brand[MAX_PARTS + 1];        /* the digits of the brand; 0 for parts of other categories */
static char in_america[MAX_SUPPLIERS + 1];

static FILE *open_table(const char *path)
{
    FILE *table = fopen(path, "r");

    if (table == NULL) {
        perror(path);
        exit(1);
    }
    return table;
}

static void refuse(const char *path, const char *row)
{
    fprintf(stderr, "%s: not a row that this program can take: %s", path, row);
    exit(1);
}

static void read_dates(const char *path)
{
    char row[512];
    FILE *table = open_table(path);
    int day, of_year;

    while (fgets(row, sizeof row, table) != NULL) {
        if (sscanf(row, "%d|%*[^|]|%*[^|]|%*[^|]|%d|", &day, &of_year) != 2 || day < FIRST_DAY || day > LAST_DAY)
            refuse(path, row);
        year[day - FIRST_DAY] = (short)of_year;
    }
    fclose(table);
}

static void read_parts(const char *path)
{
    char row[512], category[16];
    FILE *table = open_table(path);
    int part, digits;

    while (fgets(row, sizeof row, table) != NULL) {
        if (sscanf(row, "%d|%*[^|]|%*[^|]|%15[^|]|MFGR#%d|", &part, category, &digits) != 3 || part < 1 || part > MAX_PARTS)
            refuse(path, row);
        if (strcmp(category, "MFGR#12") == 0)
            brand[part] = (short)digits;
    }
    fclose(table);
}

static void read_suppliers(const char *path)
{
    char row[512], region[16];
    FILE *table = open_table(path);
    int supplier;

    while (fgets(row, sizeof row, table) != NULL) {
        if (sscanf(row, "%d|%*[^|]|%*[^|]|%*[^|]|%*[^|]|%15[^|]|", &supplier, region) != 2 || supplier < 1
            || supplier > MAX_SUPPLIERS)
            refuse(path, row);
        in_america[supplier] = strcmp(region, "AMERICA") == 0;
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
    char *line = NULL, group[GROUP_SIZE];
    size_t size = 0;
    long long revenue;

    read_dates("date.tbl");
    read_parts("part.tbl");
    read_suppliers("supplier.tbl");

#pragma mapreduce mapper key(group) value(revenue) kvpairs(1) sharedRO(year, brand, in_america)
    while (getline(&line, &size, stdin) != -1) {
        const char *at = skip(line, 3);
        int part = atoi(at), supplier, day;

        if (part < 1 || part > MAX_PARTS || brand[part] == 0)
            continue;
        at = skip(at, 1);
        supplier = atoi(at);
        if (supplier < 1 || supplier > MAX_SUPPLIERS || !in_america[supplier])
            continue;
        at = skip(at, 1);
        day = atoi(at) - FIRST_DAY;
        if (day < 0 || day >= DAYS || year[day] == 0)
            continue;
        revenue = atoll(skip(at, 7));
        snprintf(group, sizeof group, "%d|MFGR#%d", year[day], brand[part]);
        printf("%s\t%lld\n", group, revenue);
    }
    free(line);
    return 0;
}
