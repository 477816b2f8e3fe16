#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct class { int new, delete; };
static int template(int this, int operator) { return this + operator; }
static int min(int a, int b) { return a < b ? a : b; }
int main(void) {
  char k[32], *line = NULL; size_t cap = 0; ssize_t n; int v, threadIdx = 1, blockIdx = 2, warpSize = 3, virtual, bool = 1;
  struct class class;
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    class.new = (int)n; class.delete = threadIdx + blockIdx + warpSize;
    virtual = template(class.new, class.delete);
    v = min(virtual, 100) + bool;
    sprintf(k, "n%d", (int)n);
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return 0;
}
