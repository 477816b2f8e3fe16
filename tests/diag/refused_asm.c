#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char k[32] = "", *line = NULL, *p = NULL; size_t cap = 0; ssize_t n; int v = 1;
  __asm__("" : "+r"(v));  // REFUSED HD304 "asm"
  #pragma mapreduce mapper key(k) value(v)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    line[n - 1] = 0;
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return v - 1 + (p != NULL);
}
