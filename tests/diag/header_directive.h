#ifndef HEADER_DIRECTIVE_H
#define HEADER_DIRECTIVE_H
static int loop(void) {
  int c, k = 0;
  #pragma mapreduce mapper key(k)  // ERROR HD109 "directive in a header"
  while ((c = getchar()) != EOF) k += c;
  return k;
}
#endif
