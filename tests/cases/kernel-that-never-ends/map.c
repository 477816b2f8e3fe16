#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char k[32], *line = NULL; size_t cap = 0; ssize_t n; int v; const char *p;
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    p = line;
    while (*p != ';') if (*p != '\n') p++;      /* never ends without a ';' */
    v = (int)(p - line);
    sprintf(k, "n%d", (int)n);
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return 0;
}
