#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int weight[256];
int main(void) {
  char k[32], *line = NULL, stop[3] = "xy"; size_t cap = 0; ssize_t n; int v, i, mult = 3;
  double scale = 0.5;
  for (i = 0; i < 256; i++) weight[i] = i % 7;
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    v = 0;
    for (i = 0; i < n - 1; i++)
      if (line[i] != stop[0] && line[i] != stop[1]) v += weight[(unsigned char)line[i]] * mult;
    v = (int)(v * scale);
    line[n - 1] = 0;
    strcpy(k, line);
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return 0;
}
