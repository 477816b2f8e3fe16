/* Types and NULL that several standard headers define. x86-64 Linux, LP64. */
#ifndef HD_TYPES_H
#define HD_TYPES_H
/* Programs ask whose C library this is: the filters are built with glibc. */
#define __GLIBC__ 2
#define __GLIBC_MINOR__ 36
#define NULL ((void *)0)
typedef unsigned long size_t;
typedef long ssize_t;
typedef long off_t;
typedef int wchar_t;
#endif
