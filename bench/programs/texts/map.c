/* Texts per key, map: a line `name;text` becomes `name TAB text`.
 *
 * For times: rows of bench/generators/stations.c, `heterodoop run` with --policy gpu-only against --cpu-only, and against a bundle
 * that was compiled with --no-opt ordered-loops. */
#include <stdio.h>
#include <stdlib.h>

#define NAME_SIZE 101 /* bytes of the longest name, with its final '\0' */
#define TEXT_SIZE 41  /* and of the longest text */

static void refuse(const char *line)
{
    fprintf(stderr, "texts: not a name, `;` and a text: %s", line);
    exit(1);
}

int main(void)
{
    char *line = NULL, name[NAME_SIZE], text[TEXT_SIZE];
    size_t nbytes = 0;

#pragma mapreduce mapper key(name) value(text) kvpairs(1)
    while (getline(&line, &nbytes, stdin) != -1) {
        int n = 0, size = 0;

        while (n < NAME_SIZE - 1 && line[n] != ';' && (unsigned char)line[n] >= ' ') {
            name[n] = line[n];
            n++;
        }
        name[n] = '\0';
        if (n == 0 || line[n] != ';')
            refuse(line);
        n++;
        while (size < TEXT_SIZE - 1 && (unsigned char)line[n] >= ' ')
            text[size++] = line[n++];
        text[size] = '\0';
        if (size == 0 || (line[n] != '\n' && line[n] != '\0'))
            refuse(line);
        printf("%s\t%s\n", name, text);
    }
    free(line);
    return 0;
}
