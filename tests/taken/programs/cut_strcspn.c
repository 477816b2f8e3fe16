#include <stdio.h>
#include <string.h>

int main(void)
{
    char line[200];
    int one = 1;

#pragma mapreduce mapper key(line) value(one)
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0])
            printf("%s\t%d\n", line, one);
    }
    return 0;
}
