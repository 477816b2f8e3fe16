/* Linear regression, map: the products of every two columns of a row `y x1 ... x12`, 91 of them, and one row. */
#include <stdio.h>
#include <stdlib.h>

#define COLUMNS 13   /* y and 12 regressors */
#define PAIRS 92     /* COLUMNS * (COLUMNS + 1) / 2 products and the count of rows */
#define SCALE 1000   /* numbers have at most three decimals and are computed with in thousandths */
#define LIMIT 100000 /* and are below 100: 64 bits hold the sums of 900 million rows */
#define ROWS (-1)    /* key of the count of rows */

static void refuse(const char *line)
{
    fprintf(stderr, "linear_regression: not a row of %d numbers below %d with at most three decimals: %s", COLUMNS,
            LIMIT / SCALE, line);
    exit(1);
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static int skip_blanks(const char *text, int at)
{
    while (is_blank(text[at]))
        at++;
    return at;
}

/* Reads the number at the start of `text`, blanks before it passed over, as thousandths. Returns the bytes it took, or
 * -1 where there is no such number. */
static int read_number(const char *text, int *number)
{
    int i = skip_blanks(text, 0), digits = 0, value = 0, scale = SCALE, negative = 0;

    if (text[i] == '-' || text[i] == '+')
        negative = text[i++] == '-';
    for (; text[i] >= '0' && text[i] <= '9' && value < LIMIT; i++, digits++)
        value = value * 10 + (text[i] - '0');
    if (text[i] == '.')
        for (i++; text[i] >= '0' && text[i] <= '9' && scale > 1 && value < LIMIT; i++, digits++, scale /= 10)
            value = value * 10 + (text[i] - '0');
    if (digits == 0 || value >= LIMIT || value * scale >= LIMIT || (text[i] != '\0' && !is_blank(text[i])))
        return -1;
    *number = negative ? -value * scale : value * scale;
    return i;
}

int main(void)
{
    char *line = NULL;
    size_t nbytes = 0;
    int read, key;
    long long product;

#pragma mapreduce mapper key(key) value(product) kvpairs(PAIRS)
    while ((read = getline(&line, &nbytes, stdin)) != -1) {
        int row[COLUMNS], i, j, at = skip_blanks(line, 0);

        if (at == read)
            continue; /* a blank line */
        for (i = 0; i < COLUMNS; i++) {
            int step = read_number(line + at, &row[i]);

            if (step == -1)
                refuse(line);
            at += step;
        }
        if (skip_blanks(line, at) != read)
            refuse(line);
        for (i = 0; i < COLUMNS; i++) {
            for (j = i; j < COLUMNS; j++) {
                key = 100 * i + j;
                product = (long long)row[i] * row[j];
                printf("%d\t%lld\n", key, product);
            }
        }
        key = ROWS;
        product = 1;
        printf("%d\t%lld\n", key, product);
    }
    free(line);
    return 0;
}
