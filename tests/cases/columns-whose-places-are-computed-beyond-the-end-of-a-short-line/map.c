#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void field(char *to, const char *line, int from, int size) {
  memcpy(to, line + from, size);
  to[size] = 0;
}
int main(void) {
  char id[8], *line = NULL, *p; size_t cap = 0; ssize_t n; int v;
  static const int width[] = {3, 4};
  #pragma mapreduce mapper key(id) value(v) keylength(8) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    field(id, line, 0, width[0]);
    p = line;
    p += 6;
    v = atoi(p) + atoi(line + width[0] + width[1]);
    printf("%s\t%d\n", id, v);
  }
  free(line);
  return 0;
}
