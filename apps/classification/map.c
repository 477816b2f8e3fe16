/* classification, map: the cluster whose centroid a movie is most like, with the movie's id. */
#include "centroids.h"

int main(void)
{
    static int first[MAX_CLUSTERS + 1], users[MAX_REVIEWS];
    static signed char ratings[MAX_REVIEWS];
    int clusters = read_centroids(first, users, ratings), cluster;
    char *line = NULL;
    size_t nbytes = 0;
    long movie;

#ifdef TEXTURE
#pragma mapreduce mapper key(cluster) value(movie) sharedRO(clusters, first) texture(users, ratings)
#else
#pragma mapreduce mapper key(cluster) value(movie) sharedRO(clusters, first, users, ratings)
#endif
    while (getline(&line, &nbytes, stdin) != -1) {
        int product[MAX_CLUSTERS] = {0}, own[MAX_CLUSTERS] = {0}, other[MAX_CLUSTERS] = {0};
        int user, rating, c, i;
        char *at = strchr(line, ':'), *end;
        float best = 0;

        if (at == NULL || at == line)
            continue; /* no movie */
        movie = strtol(line, &end, 10);
        if (end != at)
            stop("not a movie's id", line);
        at++;
        while (next_review(&at, &user, &rating)) {
            for (c = 0; c < clusters; c++) {
                for (i = first[c]; i < first[c + 1] && users[i] != user; i++)
                    ;
                if (i < first[c + 1]) {
                    product[c] += rating * ratings[i];
                    own[c] += rating * rating;
                    other[c] += ratings[i] * ratings[i];
                }
            }
        }
        cluster = 0;
        for (c = 0; c < clusters; c++) {
            float length = (float)(sqrt((double)own[c]) * sqrt((double)other[c]));

            if (length > 0 && (float)product[c] / length > best) {
                best = (float)product[c] / length;
                cluster = c;
            }
        }
        printf("%d\t%ld\n", cluster, movie);
    }
    free(line);
    return 0;
}
