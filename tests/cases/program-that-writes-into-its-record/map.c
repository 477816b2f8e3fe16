#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char k[64], *line = NULL; size_t cap = 0; ssize_t n; int v, i;
  #pragma mapreduce mapper key(k) value(v) keylength(64) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    line[n - 1] = '|'; line[n] = 0;
    for (i = 0; i + 1 < n; i++) line[i] = line[i + 1];
    v = (int)strlen(line);
    strcpy(k, line);
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return 0;
}
