#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char year[8], line[64]; int v;
  #pragma mapreduce mapper key(year) value(v) keylength(8) vallength(1)
  while (fgets(line, sizeof line, stdin)) {
    memcpy(year, line + 3, 4);
    year[4] = 0;
    v = line[8] == '+' ? atoi(line + 9) : atoi(&line[8]);
    if (v != 9999 && strchr("0145", line[13])) printf("%s\t%d\n", year, v);
  }
  return 0;
}
