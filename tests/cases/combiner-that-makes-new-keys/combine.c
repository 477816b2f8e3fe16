#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char k[16], o[16]; int v;
  #pragma mapreduce combiner key(o) value(v) keyin(k) valuein(v) keylength(16) vallength(1)
  {
    while (scanf("%15s %d", k, &v) == 2) {
      strcpy(o, "key1"); printf("%s\t%d\n", o, v);
      strcpy(o, "key2"); printf("%s\t%d\n", o, v);
    }
  }
  return 0;
}
