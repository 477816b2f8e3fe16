#include <stdio.h>
#include <string.h>

int main(void)
{
    char word[40], line[200];
    long lines = 0, bytes = 0;
    int one = 1;

#pragma mapreduce mapper key(word) value(one)
    while (fgets(line, sizeof line, stdin)) {
        lines++;
        bytes += (long)strlen(line);
        if (sscanf(line, "%39s", word) == 1)
            printf("%s\t%d\n", word, one);
    }
    printf("lines\t%ld\nbytes\t%ld\n", lines, bytes);
    return 0;
}
