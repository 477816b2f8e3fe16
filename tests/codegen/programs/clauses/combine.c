/* Every clause of a combiner that is a fold: the sum of each word's weights. */
#include <stdio.h>
#include <string.h>

#define WORD_SIZE 32

int main(void) {
    char word[WORD_SIZE] = "", next[WORD_SIZE];
    long sum = 0, mark;

#pragma mapreduce combiner key(word) value(sum) keyin(next) valuein(mark) keylength(WORD_SIZE) vallength(1) \
        firstprivate(word, sum) blocks(16) threads(64)
    {
        while (scanf("%31s %ld", next, &mark) == 2) {
            if (strcmp(next, word) == 0) {
                sum += mark;
            } else {
                if (word[0] != '\0') printf("%s\t%ld\n", word, sum);
                strcpy(word, next);
                sum = mark;
            }
        }
        if (word[0] != '\0') printf("%s\t%ld\n", word, sum);
    }
    return 0;
}
