/* Word count, combine: adds up the counts of each word of one map task. After the paper's Listing 2. */
#include <stdio.h>
#include <string.h>

#define WORD_SIZE 256 /* as in map.c; scanf's %255s below is one less */

int main(void)
{
    char word[WORD_SIZE], previous[WORD_SIZE];
    long value, count;

    previous[0] = '\0';
    count = 0;

#pragma mapreduce combiner key(previous) value(count) keyin(word) valuein(value) \
        keylength(WORD_SIZE) vallength(1) firstprivate(previous, count)
    {
        while (scanf("%255s %ld", word, &value) == 2) {
            if (strcmp(word, previous) == 0) {
                count += value;
            } else {
                if (previous[0] != '\0')
                    printf("%s\t%ld\n", previous, count);
                strcpy(previous, word);
                count = value;
            }
        }
        if (previous[0] != '\0')
            printf("%s\t%ld\n", previous, count);
    }
    return 0;
}
