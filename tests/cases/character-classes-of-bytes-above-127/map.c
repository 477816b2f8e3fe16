#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>
int main(void) {
  char k[32], *line = NULL; size_t cap = 0; ssize_t n; int v, i, j;
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    v = 1; j = 0;
    for (i = 0; i <= n; i++) {
      char c = i < n ? line[i] : ' ';
      if (isalpha(c)) { if (j < 31) k[j++] = tolower(c); }
      else if (j > 0) { k[j] = 0; printf("%s\t%d\n", k, v); j = 0; }
    }
    v = line[0];
    printf("first\t%d\n", v);
  }
  free(line);
  return 0;
}
