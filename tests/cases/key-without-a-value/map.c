#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char k[32], *line = NULL; size_t cap = 0; ssize_t n; int dummy = 0;
  #pragma mapreduce mapper key(k) value(dummy) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    line[strcspn(line, "\n")] = 0;
    strncpy(k, line, 31); k[31] = 0;
    printf("%s\n", k);
  }
  free(line);
  return 0;
}
