#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char k[64], prev[32] = "", *line = NULL; size_t cap = 0; ssize_t n; int v;
  #pragma mapreduce mapper key(k) value(v) keylength(64) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    line[n - 1] = 0; v = 1;
    if (prev[0]) { sprintf(k, "%s_%s", prev, line); printf("%s\t%d\n", k, v); }
    strcpy(prev, line);
  }
  free(line);
  return 0;
}
