#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char k[8], prev[8] = ""; double val, sum = 0;
  #pragma mapreduce combiner key(prev) value(sum) keyin(k) valuein(val) keylength(8) vallength(1) firstprivate(prev, sum)
  {
    while (scanf("%7s %lf", k, &val) == 2) {
      if (strcmp(k, prev) == 0) sum += val;
      else { if (prev[0]) printf("%s\t%.17g\n", prev, sum); strcpy(prev, k); sum = val; }
    }
    if (prev[0]) printf("%s\t%.17g\n", prev, sum);
  }
  return 0;
}
