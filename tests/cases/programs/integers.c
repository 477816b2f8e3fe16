#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char *line = NULL, *c, *end; size_t cap = 0; ssize_t n; long a, b; char id[16];
  #pragma mapreduce mapper key(id) value(a) keylength(16) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    c = strchr(line, ',');
    if (c == NULL || c - line > 15) continue;
    memcpy(id, line, c - line); id[c - line] = 0;
    a = strtol(c + 1, &end, 10);
    b = strtol(c + 1, NULL, 0);
    printf("%s\t%ld %ld used=%d\n", id, a, b, (int)(end - (c + 1)));
  }
  free(line);
  return 0;
}
