#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char k[32], *line = NULL; size_t cap = 0; ssize_t n; int v;
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    line[n - 1] = 0;
    strcpy(k, line);
    v = (int)n;
    printf("%s", k);
    putchar('\t');
    printf("%d", v);
    puts("");
  }
  free(line);
  return 0;
}
