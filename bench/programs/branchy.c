// A map of branches: each record goes its own way through a small interpreter, so that the lanes of a warp part at each step.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    int steps, count;
#pragma mapreduce mapper key(steps) value(count) kvpairs(1)
    while ((length = getline(&line, &capacity, stdin)) != -1) {
        unsigned int value = 1, turns = 0;
        for (ssize_t i = 0; i < length; ++i) value = value * 31 + (unsigned char)line[i];
        while (value > 1 && turns < 2000) {
            ++turns;
            switch (value % 7) {
            case 0: value /= 7; break;
            case 1: value = value * 3 + 1; break;
            case 2: value ^= value >> 5; value -= value > 9 ? 2 : 0; break;
            case 3: value = value / 3 + turns; break;
            case 4: value = value % 100003 * 11; break;
            case 5: for (unsigned int k = value % 13; k > 0; --k) value += k * turns; break;
            default: value = value > 77777 ? value / 2 : value * 5 + 3;
            }
        }
        count = 1;
        steps = (int)turns;
        printf("%d\t%d\n", steps, count);
    }
    return 0;
}
