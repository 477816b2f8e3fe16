#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char k[8], *line = NULL; size_t cap = 0; ssize_t n; double v;
  #pragma mapreduce mapper key(k) value(v) keylength(8) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    k[0] = 's'; k[1] = 0;
    v = atof(line);
    printf("%s\t%.17g\n", k, v);
  }
  free(line);
  return 0;
}
