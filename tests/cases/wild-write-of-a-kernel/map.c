#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char k[32], *line = NULL; size_t cap = 0; ssize_t n; int v; long at; int tab[16];
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    at = atol(line);
    tab[at] = 1;             /* out of range for the second record */
    v = tab[at];
    sprintf(k, "n%d", (int)n);
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return 0;
}
