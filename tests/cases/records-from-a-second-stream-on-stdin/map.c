#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char k[32], *line = NULL; size_t cap = 0; ssize_t n; int v;
  FILE *in = fopen("/dev/stdin", "r");
  if (in == NULL) return 1;
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, in)) != -1) {
    v = (int)n;
    snprintf(k, sizeof k, "n%d", v);
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return 0;
}
