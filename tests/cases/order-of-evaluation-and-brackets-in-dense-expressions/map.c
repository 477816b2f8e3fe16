#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int sq(int x) { return x * x; }
int main(void) {
  char k[32], *line = NULL, *p; size_t cap = 0; ssize_t n; int x, y, v, c;
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    x = (int)n - 3; c = 0;
    (x == 0) ? (y = 1) : (y = 2);
    v = sq((c = 10, x));
    v += c;
    v = v - (y - (x - 1)) - - x;
    v += !(x & 1) + (char)(x + 300) + sizeof(int) * 2 + (x, y);
    v += x > 0 ? y > 1 ? 5 : 6 : (y, 7);
    p = line;
    v += *p++ - 'a';
    v += (*p)++ % 5;
    v += ~(x ^ 3) & 0xf | y << 1 + 1;
    sprintf(k, "x%d", x);
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return 0;
}
