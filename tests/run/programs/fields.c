/* sscanf with six fields of several types. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    char *line = NULL, name[9], set[6];
    size_t cap = 0;
    int a, got, end;
    unsigned long long big;
    double d;
    float f;
    char c;
#pragma mapreduce mapper key(name) value(big)
    while (getline(&line, &cap, stdin) != -1) {
        strcpy(name, "none"); strcpy(set, "-");
        a = -1; big = 7; d = 0.5; f = 0; c = '?'; end = -1;
        got = sscanf(line, "%8s %d %llu %lf,%f %c", name, &a, &big, &d, &f, &c);
        printf("%s\t%d %d %llu %g %g %c\n", name, got, a, big, d, (double)f, c);
        got = sscanf(line, " %5[a-z0-9]%n", set, &end);
        printf("set\t%d %s %d\n", got, set, end);
        got = sscanf(line, "%*s %x %i", (unsigned *)&a, &end);
        printf("hex\t%d %d %d\n", got, a, end);
    }
    return 0;
}
