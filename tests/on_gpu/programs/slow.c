// A map of which one record takes a while on a CPU core and very long on one thread of a GPU.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    char *line = NULL;
    size_t capacity = 0;
    long number;
    unsigned int state;
#pragma mapreduce mapper key(number) value(state) kvpairs(1)
    while (getline(&line, &capacity, stdin) != -1) {
        number = atol(line);
        long steps = number == 7 ? 3000000000L : 10;
        state = (unsigned int)number;
        for (long step = 0; step < steps; ++step) state = (state ^ state >> 15) * 2246822519u + 1;
        printf("%ld\t%u\n", number, state);
    }
    return 0;
}
