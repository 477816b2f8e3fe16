/* A combiner that reads with scanf and keeps its state in variables from before the block. */
#include <stdio.h>
#include <string.h>

int main(void)
{
    char word[40], previous[40] = "";
    int value;
    long sum = 0, best = -1;

#pragma mapreduce combiner key(previous) value(sum) keyin(word) valuein(value) keylength(40) firstprivate(previous, sum, best)
    {
        while (scanf("%39s %d", word, &value) == 2) {
            if (strcmp(word, previous) != 0) {
                if (previous[0])
                    printf("%s\t%ld %ld\n", previous, sum, best);
                strcpy(previous, word);
                sum = 0;
                best = -1;
            }
            sum += value;
            if (value > best)
                best = value;
        }
        if (previous[0])
            printf("%s\t%ld %ld\n", previous, sum, best);
    }
    return 0;
}
