#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char id[8] = "k", *line = NULL; size_t cap = 0; ssize_t n; double a, b;
  #pragma mapreduce mapper key(id) value(a) keylength(8) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    a = atof(line); b = a - a;
    id[0] = line[0]; id[1] = 0;
    printf("%s\t%f %f %f\n", id, 1.0 / b, -1.0 / b, b / b);
  }
  free(line);
  return 0;
}
