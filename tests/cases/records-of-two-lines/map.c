#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char k[32], *line = NULL, *l2 = NULL; size_t cap = 0, c2 = 0; ssize_t n; int v;
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    if (getline(&l2, &c2, stdin) == -1) break;
    line[n - 1] = 0;
    strcpy(k, line);
    v = atoi(l2);
    printf("%s\t%d\n", k, v);
  }
  free(line); free(l2);
  return 0;
}
