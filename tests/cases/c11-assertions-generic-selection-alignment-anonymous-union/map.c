#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define KIND(x) _Generic((x), int: 1, double: 2, char *: 3, default: 9)
_Static_assert(sizeof(int) == 4, "int is 4 bytes");
int main(void) {
  char k[32], *line = NULL; size_t cap = 0; ssize_t n; int v;
  _Alignas(8) struct { union { int i; float f; }; } u;
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    u.i = (int)n;
    v = KIND(u.i) * 100 + KIND(1.0) * 10 + KIND(line) + u.i;
    sprintf(k, "n%d", (int)n);
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return 0;
}
