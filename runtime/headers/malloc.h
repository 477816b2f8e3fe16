#ifndef HD_MALLOC_H
#define HD_MALLOC_H
#include <stdio.h>
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *old, size_t size);
void *memalign(size_t align, size_t size);
void free(void *memory);
size_t malloc_usable_size(void *memory);
int malloc_trim(size_t pad);
#endif
