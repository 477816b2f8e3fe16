/* fgets with a small buffer: long lines come in pieces; the newline is cut as many programs do it. */
#include <stdio.h>
#include <string.h>
int main(void)
{
    char buffer[8];
    size_t length;
#pragma mapreduce mapper key(buffer) value(length)
    while (fgets(buffer, sizeof(buffer), stdin)) {
        length = strlen(buffer);
        if (length > 0 && buffer[length - 1] == '\n')
            buffer[--length] = 0;
        printf("<%s>\t%zu\n", buffer, length);
    }
    return 0;
}
