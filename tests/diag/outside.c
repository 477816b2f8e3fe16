#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char k[4];
#pragma mapreduce mapper key(k)  // ERROR HD121 "outside of any function"
int main(void) { return k[0]; }
