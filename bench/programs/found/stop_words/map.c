/* Counts words that are not in stop_words.txt, one word a line there. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STOP 1000
#define WORD_LEN 32

static char stop[MAX_STOP][WORD_LEN];
static int nstop;

static void load_stop_words(const char *name)
{
    FILE *f = fopen(name, "r");
    if (f == NULL) {
        perror(name);
        exit(1);
    }
    while (nstop < MAX_STOP && fscanf(f, "%31s", stop[nstop]) == 1)
        nstop++;
    fclose(f);
}

static int is_stop_word(const char *w)
{
    int i;
    for (i = 0; i < nstop; i++)
        if (!strcmp(stop[i], w))
            return 1;
    return 0;
}

static void lower(char *s)
{
    for (; *s; s++)
        *s = tolower((unsigned char)*s);
}

int main(void)
{
    char line[8192], *tok;

    load_stop_words("stop_words.txt");
#pragma mapreduce mapper key(tok) keylength(256)
    while (fgets(line, sizeof line, stdin)) {
        for (tok = strtok(line, " \t\n,.;:!?"); tok; tok = strtok(NULL, " \t\n,.;:!?")) {
            lower(tok);
            if (strlen(tok) > 2 && !is_stop_word(tok))
                printf("%s\t1\n", tok);
        }
    }
    return 0;
}
