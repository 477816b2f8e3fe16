#include <stdio.h>
#include <complex.h>  // REFUSED HD305 "complex.h"
int main(void) { return 0; }
