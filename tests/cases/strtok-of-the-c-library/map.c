#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char k[32], *line = NULL, *t; size_t cap = 0; ssize_t n; int v;
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    v = 1;
    for (t = strtok(line, " ,;\n"); t != NULL; t = strtok(NULL, " ,;\n")) {
      strncpy(k, t, 31); k[31] = 0;
      printf("%s\t%d\n", k, v);
    }
  }
  free(line);
  return 0;
}
