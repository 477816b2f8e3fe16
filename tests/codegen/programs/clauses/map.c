/* Every clause of a mapper, in one program: each word of a line with a weight, at most 40 of a line. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define WORD_SIZE 32
#define MOST 40

int main(void) {
    static int weights[26];
    static double curve[8];
    char *line = NULL, word[WORD_SIZE];
    size_t capacity = 0;
    int offset = 7, most = MOST;
    long mark;

    for (int i = 0; i < 26; ++i) weights[i] = (i * 7 + 3) % 11;
    for (int i = 0; i < 8; ++i) curve[i] = 1.0 / (i + 1);
#pragma mapreduce mapper key(word) value(mark) keylength(WORD_SIZE) vallength(1) firstprivate(most) \
        sharedRO(weights, offset) texture(curve) kvpairs(MOST) blocks(24) threads(96)
    while (getline(&line, &capacity, stdin) != -1) {
        char *at = line;

        for (int found = 0; found < most; ++found) {
            int length = 0, weight = offset;
            while (*at && !isalpha((unsigned char)*at)) ++at;
            while (isalpha((unsigned char)*at) && length < WORD_SIZE - 1) {
                word[length] = (char)tolower((unsigned char)*at++);
                weight += weights[word[length++] - 'a'];
            }
            if (length == 0) break;
            word[length] = '\0';
            mark = (long)(weight * curve[length % 8] * 1000);
            printf("%s\t%ld\n", word, mark);
        }
    }
    free(line);
    return 0;
}
