#ifndef HD_ALLOCA_H
#define HD_ALLOCA_H
#include <hd_types.h>
void *alloca(size_t size);
#endif
