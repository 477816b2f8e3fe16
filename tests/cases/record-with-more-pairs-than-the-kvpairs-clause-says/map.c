#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char k[32], *line = NULL; size_t cap = 0; ssize_t n; int v, i;
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1) kvpairs(16)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    v = 1;
    for (i = 0; i < n - 1; i++) { k[0] = line[i]; k[1] = 0; printf("%s\t%d\n", k, v); }
  }
  free(line);
  return 0;
}
