/* Input: id TAB text. Output: word TAB id. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    char line[10000], id[32], word[64];

#pragma mapreduce mapper key(word) value(id)
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *text = strchr(line, '\t');
        int w = 0;

        if (text == NULL)
            continue;
        *text++ = '\0';
        strncpy(id, line, sizeof id - 1);
        id[sizeof id - 1] = '\0';
        do {
            if (isalpha((unsigned char)*text) && w < 63)
                word[w++] = tolower((unsigned char)*text);
            else if (w > 0) {
                word[w] = '\0';
                printf("%s\t%s\n", word, id);
                w = 0;
            }
        } while (*text++ != '\0');
    }
    return 0;
}
