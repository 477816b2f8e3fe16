#ifndef HD_MALLOC_H
#define HD_MALLOC_H
#include <stdlib.h>
#endif
