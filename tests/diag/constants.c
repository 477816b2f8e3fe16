#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { char a[5]; long b; } rec;
enum { MANY = 5 };
int main(void) {
  char k[32] = "", *line = NULL, *p = NULL; size_t cap = 0; ssize_t n; int v = 1; const int width = 7 + MANY; v = width - 11 + (int)sizeof(rec);
#define KLEN 16
#define TWICE(x) ((x) * 2)
  #pragma mapreduce mapper key(k) keylength(TWICE(KLEN)) value(v) vallength(sizeof(v) / sizeof(int)) kvpairs(MANY) \
    blocks(width) threads(sizeof(rec) * 4)
#undef KLEN
#define KLEN bad
  while ((n = getline(&line, &cap, stdin)) != -1) {
    line[n - 1] = 0;
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return v - 1 + (p != NULL);
}
