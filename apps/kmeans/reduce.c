/* kmeans, reduce: the next centroid of each cluster, the member that is nearest to the mean similarity.
 *
 * The counter kmeans:change says how much the centroids' similarities have changed since the last round, the mean over all
 * clusters in millionths. -D kmeans.members=true also prints the members, as PUMA's reducer does. */
#include "centroids.h"

#define SCALE 1000000
#define CUT 1000 /* a centroid's reviews end at the first comma at or behind this character */

/* Of all members with one similarity, the one that would be the centroid. */
struct member {
    long movie;
    char *reviews; /* NULL: no member has this similarity */
};

static struct member members[SCALE + 1]; /* by similarity */

/* Keeps the member with the smallest movie id; of replicas of a movie the one whose reviews come first. */
static void add(struct member *best, long movie, const char *reviews)
{
    char *kept;
    size_t length = strlen(reviews);

    if (length > CUT)
        length = CUT + strcspn(reviews + CUT, ",");
    kept = strndup(reviews, length);
    if (best->reviews != NULL && (best->movie < movie || (best->movie == movie && strcmp(best->reviews, kept) <= 0))) {
        free(kept);
        return;
    }
    free(best->reviews);
    best->movie = movie;
    best->reviews = kept;
}

static int count_reviews(const char *at)
{
    int n = 0;

    while (*(at += strspn(at, ",")) != '\0') {
        at += strcspn(at, ",");
        n++;
    }
    return n;
}

/* Prints the centroid of a cluster of `count` members whose similarities add up to `sum`, and forgets the members. */
static void finish(int cluster, long long sum, long long count, const struct centroid *last, int clusters)
{
    long long distance, smallest = -1; /* times count, so that there is no division and nothing is rounded */
    int similarity, nearest = 0;

    for (similarity = 0; similarity < SCALE + 1; similarity++) {
        if (members[similarity].reviews == NULL)
            continue;
        distance = llabs(sum - similarity * count);
        if (smallest < 0 || distance < smallest
            || (distance == smallest && members[similarity].movie < members[nearest].movie)) {
            smallest = distance;
            nearest = similarity;
        }
    }
    printf("%d\t%d %ld %d %s\n", cluster, nearest, members[nearest].movie, count_reviews(members[nearest].reviews),
           members[nearest].reviews);
    fprintf(stderr, "reporter:counter:kmeans,change,%ld\n", labs(nearest - last[cluster].similarity) / clusters);
    for (similarity = 0; similarity < SCALE + 1; similarity++) {
        free(members[similarity].reviews);
        members[similarity].reviews = NULL;
    }
}

int main(void)
{
    const char *setting = getenv("kmeans_members");
    int echo = setting != NULL && strcmp(setting, "true") == 0;
    struct centroid last[MAX_CLUSTERS];
    int clusters = find_centroids(last);
    char *line = NULL, *end, *reviews;
    size_t nbytes = 0;
    int cluster, current = -1;
    long similarity, movie;
    long long sum = 0, count = 0;

    while (getline(&line, &nbytes, stdin) != -1) {
        line[strcspn(line, "\n")] = '\0';
        cluster = (int)strtol(line, &end, 10);
        similarity = strtol(end, &end, 10);
        if (*end != ' ' || similarity < 0 || similarity > SCALE)
            stop("not a pair of this program", line);
        reviews = end + 1; /* the movie's line */
        movie = strtol(reviews, &end, 10);
        if (*end != ':')
            stop("not a movie", line);
        if (cluster < 0 || cluster >= clusters)
            stop("not a cluster of " CENTROIDS, line);
        if (cluster != current && count > 0) {
            finish(current, sum, count, last, clusters);
            sum = count = 0;
        }
        if (echo)
            printf("%d\t%s\n", cluster, reviews);
        current = cluster;
        sum += similarity;
        count++;
        add(&members[similarity], movie, end + 1);
    }
    if (count > 0)
        finish(current, sum, count, last, clusters);
    free(line);
    return 0;
}
