#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define KLEN 24
#define VLEN (1)
int main(void) {
  char k[KLEN], *line = NULL; size_t cap = 0; ssize_t n; int v;
  #pragma mapreduce mapper key(k) value(v) keylength(KLEN) vallength(VLEN)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    v = (int)n;
    sprintf(k, "n%d", v);
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return 0;
}
