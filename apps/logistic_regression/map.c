/* Logistic regression, map: what each row `y x1 ... x10` adds to the gradient, and one row. Whole numbers go into the sums,
 * so they do not depend on their order. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FEATURES 10
#define PAIRS 12      /* a row outputs the gradient for the intercept and each feature, and the count of rows */
#define ROWS (-1)     /* key of the count of rows */
#define SCALE 1000    /* features have at most three decimals and are computed with in thousandths */
#define LIMIT 10000   /* and are below 10: 64 bits hold the sums of 900 million rows */
#define UNIT 1000000  /* probabilities are rounded to millionths; so gradients and weights are in billionths */

static long long weight[FEATURES + 1]; /* of the intercept, then of each feature */

static void read_weights(const char *path)
{
    FILE *file = fopen(path, "r");
    long long number;
    int fields, key;

    if (file == NULL) {
        perror(path);
        exit(1);
    }
    while ((fields = fscanf(file, "%d %lld", &key, &number)) != EOF) {
        if (fields != 2 || key < ROWS || key > FEATURES) {
            fprintf(stderr, "%s: not lines of a number from %d to %d and a weight\n", path, ROWS, FEATURES);
            exit(1);
        }
        if (key != ROWS)
            weight[key] = number;
    }
    fclose(file);
}

static void refuse(const char *line)
{
    fprintf(stderr, "logistic_regression: not a row of 0 or 1 and %d numbers below %d with at most three decimals: %s",
            FEATURES, LIMIT / SCALE, line);
    exit(1);
}

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')
        at++;
    return at;
}

/* Reads the number at `at` as thousandths. Returns where the next one stands, NULL where there is no such number. */
static const char *read_number(const char *at, int *number)
{
    int value = 0, digits = 0, scale = SCALE, negative = *at == '-';
    const char *next;

    if (*at == '-' || *at == '+')
        at++;
    for (; *at >= '0' && *at <= '9' && value < LIMIT; at++, digits++)
        value = value * 10 + (*at - '0');
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9' && scale > 1 && value < LIMIT; at++, digits++, scale /= 10)
            value = value * 10 + (*at - '0');
    next = skip_blanks(at);
    if (digits == 0 || value >= LIMIT || value * scale >= LIMIT || (next == at && *at != '\0'))
        return NULL;
    *number = negative ? -value * scale : value * scale;
    return next;
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    int key;
    long long gradient;

    read_weights("weights.txt");

#pragma mapreduce mapper key(key) value(gradient) kvpairs(PAIRS) sharedRO(weight)
    while (getline(&line, &size, stdin) != -1) {
        const char *at = skip_blanks(line);
        int label, x[FEATURES + 1];
        long long z, error;

        if (*at == '\0')
            continue; /* a blank line */
        at = read_number(at, &label);
        x[0] = SCALE;
        z = weight[0] * x[0];
        for (key = 1; key <= FEATURES && at != NULL; key++) {
            at = read_number(at, &x[key]);
            if (at != NULL)
                z += weight[key] * x[key];
        }
        if (at == NULL || *at != '\0' || (label != 0 && label != SCALE))
            refuse(line);
        error = (long long)label * (UNIT / SCALE) - (long long)(UNIT / (1 + exp(-(double)z / 1e12)) + 0.5);
        for (key = 0; key <= FEATURES; key++) {
            gradient = error * x[key];
            printf("%d\t%lld\n", key, gradient);
        }
        key = ROWS;
        gradient = 1;
        printf("%d\t%lld\n", key, gradient);
    }
    free(line);
    return 0;
}
