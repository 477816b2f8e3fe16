#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char k[32], *line = NULL; size_t cap = 0; ssize_t n; int v, i, m;
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    v = 0; m = 2;
    for (i = 0; i < n - 1; i++)
      switch (line[i]) {
      case 'a':
      case 'b': v += 1;            /* falls through */
      case 'c': v += 10; break;
      default: v += 1000;          /* falls into 'd' */
      case 'd': v += 100;
        if (m) { m--;
      case 'e': v += 7; }
        break;
      }
    line[n - 1] = 0;
    strcpy(k, line);
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return 0;
}
