/* kmeans, map: the cluster whose centroid a movie is most like, with the similarity in millionths and the movie's line. */
#include "centroids.h"

#define SCALE 1000000

int main(void)
{
    static int first[MAX_CLUSTERS + 1], users[MAX_REVIEWS];
    static signed char ratings[MAX_REVIEWS];
    int clusters = read_centroids(first, users, ratings), cluster;
    char *line = NULL;
    size_t nbytes = 0;

#ifdef TEXTURE
#pragma mapreduce mapper key(cluster) sharedRO(clusters, first) texture(users, ratings)
#else
#pragma mapreduce mapper key(cluster) sharedRO(clusters, first, users, ratings)
#endif
    while (getline(&line, &nbytes, stdin) != -1) {
        int product[MAX_CLUSTERS] = {0}, own[MAX_CLUSTERS] = {0}, other[MAX_CLUSTERS] = {0};
        int user, rating, c, i;
        char *at = strchr(line, ':'), *end;
        float best = 0;

        if (at == NULL || at == line)
            continue; /* no movie */
        line[strcspn(line, "\n")] = '\0';
        strtol(line, &end, 10);
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
        printf("%d\t%d %s\n", cluster, (int)floor((double)best * SCALE + 0.5), line);
    }
    free(line);
    return 0;
}
