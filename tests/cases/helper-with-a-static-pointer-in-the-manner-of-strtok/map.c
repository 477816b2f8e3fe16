#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *tok(char *s) {
  static char *save;
  char *start;
  if (s) save = s;
  while (*save == ' ' || *save == '\n') save++;
  if (*save == 0) return NULL;
  start = save;
  while (*save && *save != ' ' && *save != '\n') save++;
  if (*save) *save++ = 0;
  return start;
}
int main(void) {
  char k[32], *line = NULL, *t; size_t cap = 0; ssize_t n; int v;
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    v = 1;
    for (t = tok(line); t; t = tok(NULL)) { strncpy(k, t, 31); k[31] = 0; printf("%s\t%d\n", k, v); }
  }
  free(line);
  return 0;
}
