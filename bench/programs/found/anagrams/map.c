/* Words with their letters sorted: anagrams meet at one reducer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int cmp(const void *a, const void *b)
{
    return *(const char *)a - *(const char *)b;
}

int main(void)
{
    char word[128], key[128];

#pragma mapreduce mapper key(key) value(word)
    while (fgets(word, sizeof(word), stdin)) {
        word[strcspn(word, "\r\n")] = '\0';
        if (word[0] == '\0')
            continue;
        strcpy(key, word);
        qsort(key, strlen(key), 1, cmp);
        printf("%s\t%s\n", key, word);
    }
    return 0;
}
