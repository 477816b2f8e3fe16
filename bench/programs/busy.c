// A map that computes: a million and a half steps of a generator per record, almost nothing to read or write.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    int bucket, count;
#pragma mapreduce mapper key(bucket) value(count) kvpairs(1)
    while ((length = getline(&line, &capacity, stdin)) != -1) {
        unsigned int state = 1;
        for (ssize_t i = 0; i < length; ++i) state = state * 31 + (unsigned char)line[i];
        for (int step = 0; step < 1500000; ++step) state = (state ^ state >> 15) * 2246822519u + 1;
        count = 1;
        bucket = (int)(state % 1000);
        printf("%d\t%d\n", bucket, count);
    }
    return 0;
}
