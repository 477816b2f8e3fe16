/* The same with a hash table of the stop words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 211

struct node {
    char *word;
    struct node *next;
};

static struct node *table[BUCKETS];

static unsigned hash(const char *s)
{
    unsigned h = 5381;
    while (*s)
        h = h * 33 + (unsigned char)*s++;
    return h % BUCKETS;
}

static void insert(const char *s)
{
    struct node *n = malloc(sizeof *n);
    unsigned h = hash(s);
    n->word = strdup(s);
    n->next = table[h];
    table[h] = n;
}

static int contains(const char *s)
{
    struct node *n;
    for (n = table[hash(s)]; n != NULL; n = n->next)
        if (strcmp(n->word, s) == 0)
            return 1;
    return 0;
}

int main(void)
{
    char buf[256], line[8192], *p;
    FILE *f = fopen("stop_words.txt", "r");

    if (!f)
        return 1;
    while (fgets(buf, sizeof buf, f)) {
        buf[strcspn(buf, "\r\n")] = '\0';
        insert(buf);
    }
    fclose(f);

#pragma mapreduce mapper key(p) keylength(256)
    while (fgets(line, sizeof line, stdin)) {
        p = strtok(line, " \n\t.,;:!?");
        while (p) {
            if (!contains(p))
                printf("%s\t1\n", p);
            p = strtok(NULL, " \n\t.,;:!?");
        }
    }
    return 0;
}
