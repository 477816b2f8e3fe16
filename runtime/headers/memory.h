#ifndef HD_MEMORY_H
#define HD_MEMORY_H
#include <string.h>
#endif
