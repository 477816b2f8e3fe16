/* printf in many forms; widths and precisions from arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    char *line = NULL;
    size_t cap = 0;
    double x;
    long n;
#pragma mapreduce mapper key(n) value(x)
    while (getline(&line, &cap, stdin) != -1) {
        line[strcspn(line, "\r\n")] = 0;
        x = atof(line);
        n = strtol(line, NULL, 0);
        printf("f\t%5.2f|%e|%g|%G|%.0f|%+.3f|% f|%012.4f|%-12.1f|\n", x, x, x, x, x, x, x, x, x);
        printf("i\t%ld|%5ld|%-5ld|%05ld|%+ld|%lx|%#lX|%#lo|%lu|%hhd|%hd\n", n, n, n, n, n, n, n, n, n, (char)n, (short)n);
        printf("s\t%-10s|%10s|%.3s|%*.*s|%%|%c|%5c|\n", line, line, line, (int)(n & 15), (int)(n & 3), line, line[0] ? line[0] : '0', 'x');
        printf("%a\t%.10g|%.17g\n", x, x / 3, x);
    }
    return 0;
}
