#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char key[16], *line = NULL; size_t cap = 0; ssize_t n, i; int sum;
  #pragma mapreduce mapper key(key) value(sum) keylength(16) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    sum = 0;
    for (i = 0; i < n; i++) sum = (sum * 31 + (unsigned char)line[i]) & 0xffff;
    sprintf(key, "%07d", (int)n);
    printf("%s\t%d\n", key, sum);
  }
  free(line);
  return 0;
}
