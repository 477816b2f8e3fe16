#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char id[16], *line = NULL, *c; size_t cap = 0; ssize_t n; double x, y, r;
  #pragma mapreduce mapper key(id) value(r) keylength(16) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    c = strchr(line, ',');
    if (c == NULL) continue;
    *c = 0;
    x = atof(line); y = atof(c + 1);
    r = x * x - y;
    strncpy(id, line, 15); id[15] = 0;
    printf("%s\t%.17g\n", id, r);
  }
  free(line);
  return 0;
}
