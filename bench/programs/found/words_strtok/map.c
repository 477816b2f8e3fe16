/* Word count: the mapper. */
#include <stdio.h>
#include <string.h>

#define MAX_LINE 4096

int main(int argc, char *argv[])
{
    char line[MAX_LINE];
    char *word;

#pragma mapreduce mapper key(word) keylength(64)
    while (fgets(line, MAX_LINE, stdin) != NULL) {
        word = strtok(line, " \t\r\n.,;:!?\"'()");
        while (word != NULL) {
            printf("%s\t1\n", word);
            word = strtok(NULL, " \t\r\n.,;:!?\"'()");
        }
    }
    return 0;
}
