#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char *line = NULL, *c, *end; size_t cap = 0; ssize_t n; double v; char id[16];
  #pragma mapreduce mapper key(id) value(v) keylength(16) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    c = strchr(line, ',');
    if (c == NULL || c - line > 15) continue;
    memcpy(id, line, c - line); id[c - line] = 0;
    v = strtod(c + 1, &end);
    printf("%s\t%.17g used=%d\n", id, v, (int)(end - (c + 1)));
  }
  free(line);
  return 0;
}
