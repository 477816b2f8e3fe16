#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int __attribute__((noinline)) twice(int x) __attribute__((const));
static int twice(int x) { return 2 * x; }
int main(void) {
  char k[32] __attribute__((aligned(16))), *line = NULL; size_t cap = 0; ssize_t n;
  int __attribute__((unused)) dummy = 0, v;
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    sprintf(k, "len%d", (int)n - 1);
    v = twice((int)n);
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return 0;
}
