#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char word[64], last[64] = "", id[32], last_id[32] = "";
    char *list = malloc(64);
    size_t len = 0, cap = 64;

    while (scanf("%63s %31s", word, id) == 2) {
        if (strcmp(word, last)) {
            if (last[0])
                printf("%s\t%s\n", last, list);
            strcpy(last, word);
            last_id[0] = '\0';
            len = 0;
            list[0] = '\0';
        }
        if (strcmp(id, last_id) == 0)
            continue;
        if (len + strlen(id) + 2 > cap)
            list = realloc(list, cap *= 2);
        len += sprintf(list + len, "%s%s", len ? "," : "", id);
        strcpy(last_id, id);
    }
    if (last[0])
        printf("%s\t%s\n", last, list);
    free(list);
    return 0;
}
