#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int depth(const char *s, int d) { return *s == '(' ? depth(s + 1, d + 1) : d; }
int main(void) {
  char k[32], *line = NULL; size_t cap = 0; ssize_t n; int v;
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    v = depth(line, 0);
    sprintf(k, "n%d", (int)n);
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return 0;
}
