/* For each word the nearest ones of a list, by edit distance. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXW 64
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MIN3(a, b, c) MIN(MIN(a, b), c)

char dict[500][MAXW];
int ndict = 0;

int levenshtein(const char *a, const char *b)
{
    int la = strlen(a), lb = strlen(b);
    int d[MAXW + 1][MAXW + 1];
    int i, j;

    for (i = 0; i <= la; i++)
        d[i][0] = i;
    for (j = 0; j <= lb; j++)
        d[0][j] = j;
    for (i = 1; i <= la; i++)
        for (j = 1; j <= lb; j++)
            d[i][j] = MIN3(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1));
    return d[la][lb];
}

int main()
{
    char word[MAXW];
    FILE *fp = fopen("dictionary.txt", "r");

    if (fp == NULL) {
        fprintf(stderr, "no dictionary\n");
        exit(EXIT_FAILURE);
    }
    while (ndict < 500 && fscanf(fp, "%63s", dict[ndict]) == 1)
        ndict++;
    fclose(fp);

#pragma mapreduce mapper key(word)
    while (scanf("%63s", word) == 1) {
        int best = 1000, which = -1, k;
        for (k = 0; k < ndict; k++) {
            int dist = levenshtein(word, dict[k]);
            if (dist < best) {
                best = dist;
                which = k;
            }
        }
        if (which >= 0)
            printf("%s\t%s %d\n", word, dict[which], best);
    }
    return 0;
}
