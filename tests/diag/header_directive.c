#include <stdio.h>
#include "header_directive.h"
int main(void) { return loop(); }
