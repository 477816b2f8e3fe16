#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char k[32], *line = NULL; size_t cap = 0; ssize_t n; int v = 0;
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    v++;
    line[n - 1] = 0;
    strcpy(k, line);
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return 0;
}
