/* page TAB rank TAB link,link,... : a share of the rank to every link, and the page itself */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char *line = NULL, *page, *rank_text, *links, *copy, *l;
    size_t cap = 0;

#pragma mapreduce mapper key(page) keylength(128)
    while (getline(&line, &cap, stdin) != -1) {
        int n = 0;
        double rank;

        page = strtok(line, "\t\n");
        rank_text = strtok(NULL, "\t\n");
        links = strtok(NULL, "\t\n");
        if (!page || !rank_text)
            continue;
        rank = atof(rank_text);
        printf("%s\tL%s\n", page, links ? links : "");
        if (!links)
            continue;
        for (l = links; *l; l++)
            if (*l == ',')
                n++;
        n++;
        copy = strdup(links);
        for (l = strtok(copy, ","); l != NULL; l = strtok(NULL, ","))
            printf("%s\t%.10f\n", l, rank / n);
        free(copy);
    }
    free(line);
    return 0;
}
