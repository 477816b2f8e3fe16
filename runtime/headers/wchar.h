#ifndef HD_WCHAR_H
#define HD_WCHAR_H
#include <stdio.h>
#include <hd_types.h>
typedef unsigned int wint_t;
#define WEOF (0xffffffffu)
#ifndef HD_HEADER_TEST
typedef struct { int hd_count; unsigned int hd_value; } mbstate_t;
#endif
size_t wcslen(const wchar_t *text);
wchar_t *wcscpy(wchar_t *to, const wchar_t *from);
wchar_t *wcsncpy(wchar_t *to, const wchar_t *from, size_t count);
wchar_t *wcscat(wchar_t *to, const wchar_t *from);
int wcscmp(const wchar_t *a, const wchar_t *b);
int wcsncmp(const wchar_t *a, const wchar_t *b, size_t count);
wchar_t *wcstok(wchar_t *text, const wchar_t *ends, wchar_t **kept);
long wcstol(const wchar_t *text, wchar_t **end, int base);
double wcstod(const wchar_t *text, wchar_t **end);
wint_t btowc(int byte);
int wctob(wint_t c);
size_t mbrtowc(wchar_t *to, const char *text, size_t size, mbstate_t *state);
size_t wcrtomb(char *to, wchar_t c, mbstate_t *state);
size_t mbsrtowcs(wchar_t *to, const char **text, size_t count, mbstate_t *state);
size_t wcsrtombs(char *to, const wchar_t **text, size_t size, mbstate_t *state);
wint_t fgetwc(FILE *stream);
wint_t getwchar(void);
wint_t fputwc(wchar_t c, FILE *stream);
wint_t putwchar(wchar_t c);
wchar_t *fgetws(wchar_t *to, int count, FILE *stream);
int fputws(const wchar_t *text, FILE *stream);
int wprintf(const wchar_t *format, ...);
int fwprintf(FILE *stream, const wchar_t *format, ...);
int swprintf(wchar_t *to, size_t count, const wchar_t *format, ...);
int wscanf(const wchar_t *format, ...);
#endif
