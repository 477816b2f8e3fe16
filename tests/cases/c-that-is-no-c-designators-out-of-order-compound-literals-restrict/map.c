#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum kind { SHORT, LONG };
struct box { int a, b[3], c; };
static int sum(const struct box *restrict p) { return p->a + p->b[1] + p->c; }
int main(void) {
  char k[32], *line = NULL; size_t cap = 0; ssize_t n; int v; enum kind kd;
  char *names[] = { [LONG] = "long", [SHORT] = "short" };
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    int *tmp = malloc(4 * sizeof *tmp);
    kd = n > 3;
    tmp[0] = sum(&(struct box){ .c = 5, .b = { [1] = (int)n }, .a = 1 });
    v = tmp[0];
    free(tmp);
    strcpy(k, names[kd]);
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return 0;
}
