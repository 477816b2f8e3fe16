#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char k[32]; int v;
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while (scanf("%31s", k) == 1) {
    v = 1;
    printf("%s\t%d\n", k, v);
  }
  return 0;
}
