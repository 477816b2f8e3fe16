// A map that writes far behind an array for one record: not defined in C. On the CPU other arrays of the program lie around
// it; a thread of a GPU has nothing there, and the kernel faults.
#include <stdio.h>
#include <stdlib.h>

static volatile int below[1 << 22];
static int few[8];
static volatile int above[1 << 22];

int main(void) {
    char *line = NULL;
    size_t capacity = 0;
    long number;
    int sum;
    below[1 << 21] = above[1 << 21] = 1;
#pragma mapreduce mapper key(number) value(sum) kvpairs(1)
    while (getline(&line, &capacity, stdin) != -1) {
        number = atol(line);
        sum = 0;
        for (int i = 0; i < 8; ++i) few[i] = i;
        few[number == 7 ? 1 << 20 : number % 8] = 1;
        for (int i = 0; i < 8; ++i) sum += few[i * number % 8];
        printf("%ld\t%d\n", number, sum);
    }
    return below[1 << 21] - above[1 << 21];
}
