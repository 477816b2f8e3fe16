/* Prints every word of the input in small letters, a word being a run of letters. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;

#pragma mapreduce mapper key(word)
    while ((len = getline(&line, &cap, stdin)) > 0) {
        char word[128];
        int n = 0;
        for (ssize_t i = 0; i < len; i++) {
            unsigned char c = line[i];
            if (isalpha(c)) {
                if (n < (int)sizeof(word) - 1)
                    word[n++] = tolower(c);
            } else if (n > 0) {
                word[n] = 0;
                printf("%s\t%d\n", word, 1);
                n = 0;
            }
        }
        if (n > 0) {
            word[n] = 0;
            printf("%s\t%d\n", word, 1);
        }
    }
    free(line);
    return 0;
}
