#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char year[8];
int main(void) {
  char id[8], *line = NULL; size_t cap = 0; ssize_t n; int v;
  id[3] = '\0';
  #pragma mapreduce mapper key(year) value(v) keylength(8) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    strncpy(year, line + 3, 4);
    for (v = 0; v < 3; v++) id[v] = line[v];
    v = atoi(line + 8);
    printf("%s\t%d %s\n", year, v, id);
  }
  free(line);
  return 0;
}
