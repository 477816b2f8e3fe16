#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct rec { int a; } rec;
typedef int word_t;
typedef struct { word_t word_t; rec rec; } both;
int main(void) {
  char k[32], *line = NULL; size_t cap = 0; ssize_t n; int v, word_t;
  both b;
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    rec *rec = malloc(sizeof(*rec));
    rec->a = (int)n;
    word_t = rec->a * 2;
    b.word_t = word_t;
    v = b.word_t;
    free(rec);
    sprintf(k, "n%d", (int)n);
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return 0;
}
