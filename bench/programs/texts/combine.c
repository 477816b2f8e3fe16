/* Texts per key, combine: of each name of one map task the first text, the last, the least, the greatest and the longest, and with
 * -D ALL as many of them one after the other as there is room for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 101 /* as in map.c */
#define TEXT_SIZE 41
#define ALL_SIZE 200

static char name[NAME_SIZE], first[TEXT_SIZE], last[TEXT_SIZE], least[TEXT_SIZE], greatest[TEXT_SIZE], longest[TEXT_SIZE];
#ifdef ALL
static char all[ALL_SIZE];
#endif

static void print(void)
{
#ifdef ALL
    printf("%s\t%s %s %s %s %s %s\n", name, first, last, least, greatest, longest, all);
#else
    printf("%s\t%s %s %s %s %s\n", name, first, last, least, greatest, longest);
#endif
}

int main(void)
{
    char *line = NULL, *text;
    size_t nbytes = 0;

#pragma mapreduce combiner key(name) value(first) keyin(line) valuein(text) keylength(NAME_SIZE)
    {
        while (getline(&line, &nbytes, stdin) != -1) {
            text = strchr(line, '\t');
            if (text == NULL || text - line >= NAME_SIZE) {
                fprintf(stderr, "texts: not a pair of this program: %s\n", line);
                exit(1);
            }
            *text++ = '\0';
            text[strcspn(text, "\n")] = '\0';
            if (strcmp(line, name) != 0) {
                if (name[0] != '\0')
                    print();
                strcpy(name, line);
                strcpy(first, text);
                strcpy(last, text);
                strcpy(least, text);
                strcpy(greatest, text);
                strcpy(longest, text);
#ifdef ALL
                strcpy(all, text);
#endif
                continue;
            }
            strcpy(last, text);
            if (strcmp(text, least) < 0)
                strcpy(least, text);
            if (strcmp(text, greatest) > 0)
                strcpy(greatest, text);
            if (strlen(text) > strlen(longest))
                strcpy(longest, text);
#ifdef ALL
            if (strlen(all) + strlen(text) + 1 < ALL_SIZE) {
                strcat(all, ",");
                strcat(all, text);
            }
#endif
        }
        if (name[0] != '\0')
            print();
    }
    free(line);
    return 0;
}
