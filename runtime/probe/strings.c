/* string.h, strings.h and ctype.h: results, and every byte that is written. */
#include "probe.h"

#include <ctype.h>
#include <strings.h>

#define COUNT(array) (sizeof array / sizeof *array)
#define ROUNDS for (unsigned round = 0; round < 400; round++)

extern char *strchrnul(const char *, int), *strcasestr(const char *, const char *), *stpcpy(char *, const char *);
extern char *stpncpy(char *, const char *, size_t), *strsep(char **, const char *);
extern void *mempcpy(void *, const void *, size_t), *memrchr(const void *, int, size_t);
extern void *memmem(const void *, size_t, const void *, size_t);

static char first[64], second[64], target[160];

static void draw(void)
{
    letters(first, "aAbBz -,\t0\377\200", 20);
    letters(second, "aAbBz -,\t0\377\200", below(2) ? 3 : 20);
    memset(target, '#', sizeof target);
    strcpy(target, below(2) ? "" : "start");
}

static void add_place(const void *found, const void *start)
{
    add_number(found == NULL ? -1 : (const char *)found - (const char *)start);
}

static long sign(int value)
{
    return (value > 0) - (value < 0);
}

#define COMPARES(name, call) begin(); ROUNDS { draw(); add_number(call); } end(name)
#define FINDS(name, call) begin(); ROUNDS { draw(); add_place(call, first); } end(name)
#define WRITES(name, call)                                                                                  \
    begin(); ROUNDS { draw(); add_place(call, target); add(target, sizeof target); } end(name)

static void tokens(void)
{
    char *rest, *at;

    begin();
    ROUNDS {
        draw();
        for (at = strtok(first, second); at; at = strtok(NULL, second))
            add_place(at, first);
        add(first, sizeof first);
    }
    end("strtok");
    begin();
    ROUNDS {
        draw();
        for (at = strtok_r(first, second, &rest); at; at = strtok_r(NULL, second, &rest))
            add_place(at, first);
        add(first, sizeof first);
    }
    end("strtok_r");
    begin();
    ROUNDS {
        draw();
        for (rest = first; (at = strsep(&rest, second));)
            add_place(at, first);
        add(first, sizeof first);
    }
    end("strsep");
}

static void comparing(void)
{
    COMPARES("strcmp", strcmp(first, second));
    COMPARES("strcoll", strcoll(first, second));
    COMPARES("strncmp", strncmp(first, second, below(8)));
    COMPARES("strcasecmp", strcasecmp(first, second));
    COMPARES("strncasecmp", strncasecmp(first, second, below(8)));
    COMPARES("memcmp", sign(memcmp(first, second, 5)));
    COMPARES("strlen", (long)strlen(first));
    COMPARES("strnlen", (long)strnlen(first, below(24)));
    COMPARES("strspn", (long)strspn(first, second));
    COMPARES("strcspn", (long)strcspn(first, second));
}

static void finding(void)
{
    FINDS("strchr", strchr(first, *second));
    FINDS("strchrnul", strchrnul(first, *second));
    FINDS("strrchr", strrchr(first, *second));
    FINDS("strstr", strstr(first, second));
    FINDS("strcasestr", strcasestr(first, second));
    FINDS("strpbrk", strpbrk(first, second));
    FINDS("memchr", memchr(first, *second, strlen(first)));
    FINDS("memrchr", memrchr(first, *second, strlen(first)));
    FINDS("memmem", memmem(first, strlen(first), second, strlen(second)));
}

static void writing(void)
{
    WRITES("strcpy", strcpy(target, first));
    WRITES("stpcpy", stpcpy(target, first));
    WRITES("strncpy", strncpy(target, first, below(24)));
    WRITES("stpncpy", stpncpy(target, first, below(24)));
    WRITES("strcat", strcat(target, first));
    WRITES("strncat", strncat(target, first, below(24)));
    WRITES("memcpy", memcpy(target, first, below(24)));
    WRITES("mempcpy", mempcpy(target, first, below(24)));
    WRITES("memmove", memmove(target + 3, target, 20));
    WRITES("memset", memset(target, *first, below(24)));
}

#define CLASSES(name) begin(); for (int c = -1; c < 256; c++) add_number((name)(c)); end(#name)

static void classes(void)
{
    CLASSES(isalpha), CLASSES(isdigit), CLASSES(isspace), CLASSES(isalnum), CLASSES(isupper), CLASSES(islower);
    CLASSES(ispunct), CLASSES(isprint), CLASSES(isgraph), CLASSES(iscntrl), CLASSES(isxdigit), CLASSES(isblank);
    CLASSES(tolower), CLASSES(toupper), CLASSES(isascii), CLASSES(toascii);
}

void probe_strings(void)
{
    tokens();
    comparing();
    finding();
    writing();
    classes();
}
