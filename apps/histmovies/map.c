/* Histogram of movies, map: one pair (bin, 1) per movie, the bin by the mean of its ratings. After PUMA's
 * histogram_movies. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number text[0..length) by the rules of Java's Integer.parseInt, which the original reads ratings with: a sign or
 * none, digits, nothing else, in the range of an int. Anything else ends the program, as it ends the original's task. */
static int parse_rating(const char *text, int length)
{
    int i = length > 1 && (text[0] == '-' || text[0] == '+'), negative = i == 1 && text[0] == '-';
    long long number = 0;

    if (length == 0)
        number = LLONG_MAX;
    for (; i < length; i++) {
        if (text[i] >= '0' && text[i] <= '9' && number <= INT_MAX)
            number = number * 10 + (text[i] - '0');
        else
            number = LLONG_MAX;
    }
    if (number > (long long)INT_MAX + negative) {
        fprintf(stderr, "histmovies: a review's rating is no number: %.*s\n", length, text);
        exit(1);
    }
    return (int)(negative ? -number : number);
}

/* Reads the first review, `user_rating`, of text[0..length) and returns how many bytes it took, -1 if there is none.
 * Reviews are separated by commas, of which any number counts as one; without a '_' the whole review is the rating. */
static int next_review(const char *text, int length, int *rating)
{
    int i = 0, start;

    while (i < length && text[i] == ',')
        i++;
    if (i == length)
        return -1;
    start = i;
    while (i < length && text[i] != '_' && text[i] != ',')
        i++;
    if (i < length && text[i] == '_')
        start = ++i;
    while (i < length && text[i] != ',')
        i++;
    *rating = parse_rating(text + start, i - start);
    return i;
}

/* The upper end of the mean's bin, which is half a star wide: 1.0 and 1.3 lie in 1.5, 5.0 in 5.5. Computed in float, as
 * the original does: near the end of a bin, double may choose another one. A movie without reviews lies in 0. */
static float bin_of(long sum, long reviews)
{
    float mean, whole, fraction;

    if (reviews == 0)
        return 0.0f;
    mean = (float)sum / (float)reviews;
    whole = floorf(mean);
    fraction = mean - whole;
    return whole + (fraction < 0.5f ? 0.5f : 1.0f);
}

int main(void)
{
    char *line = NULL;
    size_t nbytes = 0;
    int read, one;
    float bin;

#pragma mapreduce mapper key(bin) value(one) kvpairs(1)
    while ((read = getline(&line, &nbytes, stdin)) != -1) {
        const char *at = memchr(line, ':', (size_t)read);
        long sum = 0, reviews = 0;
        int left, step, rating;

        if (at == NULL || at == line)
            continue; /* no movie: the original passes over such lines, too */
        if (line[read - 1] == '\n')
            read--;
        at++;
        left = (int)(line + read - at);
        while ((step = next_review(at, left, &rating)) != -1) {
            sum += rating;
            reviews++;
            at += step;
            left -= step;
        }
        bin = bin_of(sum, reviews);
        one = 1;
        printf("%.1f\t%d\n", bin, one);
    }
    free(line);
    return 0;
}
