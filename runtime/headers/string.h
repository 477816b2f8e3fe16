#ifndef HD_STRING_H
#define HD_STRING_H
#include <hd_types.h>
#include <strings.h>
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t size);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t size);
int strcoll(const char *a, const char *b);
size_t strxfrm(char *to, const char *from, size_t size);
char *strcpy(char *to, const char *from);
char *strncpy(char *to, const char *from, size_t size);
char *stpcpy(char *to, const char *from);
char *stpncpy(char *to, const char *from, size_t size);
char *strcat(char *to, const char *from);
char *strncat(char *to, const char *from, size_t size);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
#ifdef _GNU_SOURCE
char *strchrnul(const char *s, int c);
char *strcasestr(const char *s, const char *part);
void *memmem(const void *s, size_t size, const void *part, size_t part_size);
void *memrchr(const void *s, int c, size_t size);
void *mempcpy(void *to, const void *from, size_t size);
#include <alloca.h>
#define strdupa(s) ({ const char *hd_from = (s); strcpy(alloca(strlen(hd_from) + 1), hd_from); })
#define strndupa(s, n) ({ const char *hd_from = (s); size_t hd_n = strnlen(hd_from, n); char *hd_to = alloca(hd_n + 1); hd_to[hd_n] = 0; (char *)memcpy(hd_to, hd_from, hd_n); })
#endif
char *strstr(const char *s, const char *part);
char *strpbrk(const char *s, const char *set);
size_t strspn(const char *s, const char *set);
size_t strcspn(const char *s, const char *set);
char *strtok(char *s, const char *set);
char *strtok_r(char *s, const char *set, char **state);
char *strsep(char **s, const char *set);
char *strdup(const char *s);
char *strndup(const char *s, size_t size);
char *strerror(int number);
char *strsignal(int number);
void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int c, size_t size);
void *memccpy(void *to, const void *from, int c, size_t size);
int memcmp(const void *a, const void *b, size_t size);
void *memchr(const void *s, int c, size_t size);
#ifndef HD_HEADER_TEST
void *memccpy(void *to, const void *from, int c, size_t size)
{
  const char *found = memchr(from, c, size);
  if (found != (const char *)0)
    size = found - (const char *)from + 1;
  memcpy(to, from, size);
  return found != (const char *)0 ? (char *)to + size : (char *)0;
}
#endif
#endif
