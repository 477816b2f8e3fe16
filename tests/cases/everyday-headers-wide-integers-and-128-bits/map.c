#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <inttypes.h>
#include <limits.h>
#include <float.h>
#include <errno.h>
#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <strings.h>
#include <sys/types.h>
#include <unistd.h>
int main(void) {
  char k[32], *line = NULL; size_t cap = 0; ssize_t n; uint64_t v; bool big; unsigned __int128 w;
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    assert(n > 0);
    errno = 0;
    v = strtoull(line, NULL, 10);
    big = v > INT_MAX || errno == ERANGE;
    w = (unsigned __int128)v * v;
    v = (uint64_t)(w >> 64) + (uint64_t)floor(sqrt((double)(v % 1000)));
    strcpy(k, strncasecmp(line, "1E", 2) == 0 ? "exp" : big ? "big" : "small");
    printf("%s\t%" PRIu64 "\n", k, v);
  }
  free(line);
  return 0;
}
