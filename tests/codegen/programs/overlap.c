/* Copies within one array, at places that the record says: OP TO FROM LENGTH. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void copy(char *to, const char *from, int n) { memcpy(to, from, (size_t)n); }

int main(void)
{
    char *line = NULL, b[96], shown[97], op;
    size_t cap = 0;
    int i, to, from, n;

#pragma mapreduce mapper key(shown) value(n)
    while (getline(&line, &cap, stdin) != -1) {
        if (sscanf(line, "%c %d %d %d", &op, &to, &from, &n) != 4)
            continue;
        for (i = 0; i < 96; i++)
            b[i] = (char)('a' + i % 26);
        b[95] = b[to + 3] = b[from + n] = '\0';
        switch (op) {
        case 'm': memcpy(b + to, b + from, (size_t)n); break;
        case 'h': copy(b + to, b + from, n); break;
        case 'v': memmove(b + to, b + from, (size_t)n); break;
        case 'c': strcpy(b + to, b + from); break;
        case 'n': strncpy(b + to, b + from, (size_t)n + 2); break;
        case 'k': strncpy(b + to, b + from, (size_t)n / 2); break;
        case 'a': strcat(b + to, b + from); break;
        case 'b': strncat(b + to, b + from, (size_t)n / 2); break;
        case 's': snprintf(b + to, 9, "<%s>", b + from); break;
        case 'p': sprintf(b + to, "%d%6s", n, b + from); break;
        case 'f': n = sscanf(b + from, "%7s", b + to); break;
        }
        for (i = 0; i < 96; i++)
            shown[i] = b[i] == '\0' ? '.' : b[i];
        shown[96] = '\0';
        printf("%s\t%d\n", shown, n);
    }
    free(line);
    return 0;
}
