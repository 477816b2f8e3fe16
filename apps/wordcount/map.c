/* Word count, map: one pair (word, 1) per word of each line. After the paper's Listing 1. */
#include <stdio.h>
#include <stdlib.h>

#define WORD_SIZE 256 /* bytes of the longest word, with its final '\0' */

/* White space of the C locale, and '\0': what scanf("%s") of the combiner would stop at must not get into a word. */
static int is_separator(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0';
}

/* Copies the next word of line[offset..length) to `word` and returns how far it reached from `offset`, -1 if there is
 * no further word. A word that does not fit ends the program: half a word would be counted as a word of its own. */
static int get_word(const char *line, int offset, char *word, int length, int size)
{
    int i = offset, n = 0;

    while (i < length && is_separator(line[i]))
        i++;
    if (i == length)
        return -1;
    while (i < length && !is_separator(line[i])) {
        if (n == size - 1) {
            fprintf(stderr, "wordcount: a word is longer than %d bytes; raise WORD_SIZE\n", size - 1);
            exit(1);
        }
        word[n++] = line[i++];
    }
    word[n] = '\0';
    return i - offset;
}

int main(void)
{
    char word[WORD_SIZE], *line;
    size_t nbytes = 10000;
    int read, offset, step, one;

    line = malloc(nbytes);
    if (line == NULL)
        return 1;

#pragma mapreduce mapper key(word) value(one) \
        keylength(WORD_SIZE) vallength(1)
    while ((read = getline(&line, &nbytes, stdin)) != -1) {
        offset = 0;
        one = 1;
        while ((step = get_word(line, offset, word, read, WORD_SIZE)) != -1) {
            printf("%s\t%d\n", word, one);
            offset += step;
        }
    }
    free(line);
    return 0;
}
