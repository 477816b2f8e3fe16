#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char w[32], *line = NULL; size_t cap = 0; ssize_t n; long long big = -9223372036854775807LL - 1; unsigned u; int v;
  #pragma mapreduce mapper key(w) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    line[strcspn(line, "\n")] = 0;
    strncpy(w, line, 31); w[31] = 0;
    v = atoi(line); u = (unsigned)v;
    printf("%s\t[%05d|%-6d|%+d|% d|%x|%#X|%o|%c|%%|%5s|%.2s|%*d|%.*f|%lld|%u|%hhd|%zu]\n",
           w, v, v, v, v, u, u, u, w[0], w, w, 7, v, 3, v / 7.0, big, u, v, (size_t)n);
  }
  free(line);
  return 0;
}
