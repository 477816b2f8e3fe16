#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char k[8] = "k", *line = NULL; size_t cap = 0; ssize_t n; int v = 1;
  #pragma mapreduce mapper key(k) value(v) keylength(8) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    if (line[0] == '!') { fprintf(stderr, "bad record\n"); exit(3); }
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return 0;
}
