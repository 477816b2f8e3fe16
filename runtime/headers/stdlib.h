#ifndef HD_STDLIB_H
#define HD_STDLIB_H
#include <hd_types.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
#define MB_CUR_MAX 1
#ifndef HD_HEADER_TEST
typedef struct { int quot; int rem; } div_t;
typedef struct { long quot; long rem; } ldiv_t;
typedef struct { long long quot; long long rem; } lldiv_t;
#endif
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *old, size_t size);
void *alloca(size_t size);
void *reallocarray(void *old, size_t count, size_t size);
void *aligned_alloc(size_t align, size_t size);
int posix_memalign(void **to, size_t align, size_t size);
void free(void *memory);
void exit(int status);
void _Exit(int status);
void abort(void);
int atexit(void (*function)(void));
char *getenv(const char *name);
#ifdef _GNU_SOURCE
char *secure_getenv(const char *name);
#endif
int setenv(const char *name, const char *value, int overwrite);
int unsetenv(const char *name);
int putenv(char *text);
int system(const char *command);
int atoi(const char *text);
long atol(const char *text);
long long atoll(const char *text);
double atof(const char *text);
long strtol(const char *text, char **end, int base);
long long strtoll(const char *text, char **end, int base);
unsigned long strtoul(const char *text, char **end, int base);
unsigned long long strtoull(const char *text, char **end, int base);
double strtod(const char *text, char **end);
float strtof(const char *text, char **end);
long double strtold(const char *text, char **end);
int abs(int x);
long labs(long x);
long long llabs(long long x);
div_t div(int a, int b);
ldiv_t ldiv(long a, long b);
lldiv_t lldiv(long long a, long long b);
#ifndef HD_HEADER_TEST
div_t div(int a, int b)
{
  div_t made = {a / b, a % b};
  return made;
}
ldiv_t ldiv(long a, long b)
{
  ldiv_t made = {a / b, a % b};
  return made;
}
lldiv_t lldiv(long long a, long long b)
{
  lldiv_t made = {a / b, a % b};
  return made;
}
#endif
int rand(void);
void srand(unsigned int seed);
int rand_r(unsigned int *seed);
long random(void);
void srandom(unsigned int seed);
double drand48(void);
long lrand48(void);
void srand48(long seed);
double erand48(unsigned short state[3]);
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *));
void *bsearch(const void *key, const void *base, size_t count, size_t size, int (*compare)(const void *, const void *));
int mkstemp(char *pattern);
char *mkdtemp(char *pattern);
char *realpath(const char *path, char *to);
int mblen(const char *text, size_t size);
int mbtowc(wchar_t *to, const char *text, size_t size);
int wctomb(char *to, wchar_t c);
size_t mbstowcs(wchar_t *to, const char *text, size_t size);
size_t wcstombs(char *to, const wchar_t *text, size_t size);
#endif
