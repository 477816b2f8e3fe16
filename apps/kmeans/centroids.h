/* Movies and centroids, as kmeans and classification read them (the same file in both folders).
 *
 * A list of reviews is user_rating,user_rating,...; empty ones do not count. The centroids are in centroids.txt in the
 * task's working folder, one cluster a line, as kmeans' reducer prints them:
 *
 *     cluster TAB similarity BLANK movie BLANK number of reviews BLANK reviews
 *
 * Lines of another form are passed over: the reducer can print members as well. A cluster's number is its place among the
 * centroids' movies, largest id first; the one in the file says nothing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CENTROIDS "centroids.txt"
#define MAX_CLUSTERS 64
#define MAX_REVIEWS 65536 /* of all centroids together */

struct centroid {
    long movie, similarity;
    char *reviews;
};

static void stop(const char *what, const char *where)
{
    fprintf(stderr, "%s: %.60s\n", what, where);
    exit(1);
}

/* The review at *at, which goes on behind it; 0 at the end of the list. */
static int next_review(char **at, int *user, int *rating)
{
    char *text = *at, *end;

    while (*text == ',')
        text++;
    if (*text == '\0' || *text == '\n')
        return 0;
    *user = (int)strtol(text, &end, 10);
    if (end == text || *end != '_')
        stop("not user_rating", text);
    text = end + 1;
    *rating = (int)strtol(text, &end, 10);
    if (end == text || (*end != ',' && *end != '\n' && *end != '\0'))
        stop("not a rating", text);
    *at = end;
    return 1;
}

static int larger_first(const void *left, const void *right)
{
    long a = ((const struct centroid *)left)->movie, b = ((const struct centroid *)right)->movie;

    return (a < b) - (a > b);
}

/* The centroids of the file, in the order of their clusters; returns how many. */
static int find_centroids(struct centroid *found)
{
    FILE *file = fopen(CENTROIDS, "r");
    char *line = NULL;
    size_t size = 0;
    long cluster, similarity, movie, count;
    int n = 0, at;

    if (file == NULL)
        stop("run with --file PATH#" CENTROIDS "; cannot open", CENTROIDS);
    while (getline(&line, &size, file) != -1) {
        at = 0;
        if (sscanf(line, "%ld\t%ld %ld %ld %n", &cluster, &similarity, &movie, &count, &at) != 4 || at == 0)
            continue;
        if (n == MAX_CLUSTERS)
            stop("too many clusters", line);
        found[n].movie = movie;
        found[n].similarity = similarity;
        found[n].reviews = strdup(line + at);
        n++;
    }
    fclose(file);
    free(line);
    if (n == 0)
        stop("no centroid in", CENTROIDS);
    qsort(found, (size_t)n, sizeof *found, larger_first);
    return n;
}

/* Reads the file: cluster c has the reviews from first[c] to before first[c + 1]. Returns the number of clusters. */
static int read_centroids(int *first, int *users, signed char *ratings)
{
    struct centroid found[MAX_CLUSTERS];
    int clusters = find_centroids(found), n = 0, c, user, rating;

    for (c = 0; c < clusters; c++) {
        char *at = found[c].reviews;

        first[c] = n;
        while (next_review(&at, &user, &rating)) {
            if (n == MAX_REVIEWS)
                stop("too many reviews of centroids", at);
            users[n] = user;
            ratings[n++] = (signed char)rating;
        }
        free(found[c].reviews);
    }
    first[clusters] = n;
    return clusters;
}
