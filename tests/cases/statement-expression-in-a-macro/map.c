#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MAX(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
int main(void) {
  char k[32], *line = NULL; size_t cap = 0; ssize_t n; int v, i;
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    i = 0;
    v = 100 / MAX(i++, (int)n);
    v += i;
    sprintf(k, "n%d", (int)n);
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return 0;
}
