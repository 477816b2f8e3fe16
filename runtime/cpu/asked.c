/* Linked into prologues that ask for the environment or read files, beside live_in.c: notes what they ask for.
 *
 * With the same answers such a program computes the same, so that its result can serve more than one task. The linker leads
 * its calls of these functions here (--wrap; compiler/emit/prologue.py). One more object is written behind the others: per
 * question a letter, e (a variable) or f (a file opened to be read), its name, and a NUL. It is NULL where something was
 * opened otherwise, or there were too many questions. The reader is executor/kernel/questions.py.
 */
#define _GNU_SOURCE 1

#include <stdio.h>
#include <string.h>

enum { ROOM = 1 << 16 };

extern void hd_live_in_object(const void *address, unsigned long size);
extern char *__real_getenv(const char *name), *__real_secure_getenv(const char *name);
extern FILE *__real_fopen(const char *path, const char *mode), *__real_fopen64(const char *path, const char *mode);

char *__wrap_getenv(const char *name), *__wrap_secure_getenv(const char *name);
FILE *__wrap_fopen(const char *path, const char *mode), *__wrap_fopen64(const char *path, const char *mode);
void hd_live_in_asked(void);

static char asked[ROOM];
static unsigned long used;
static int not_known;

static void note(char kind, const char *name)
{
    const size_t length = strlen(name);

    if (length + 2 > ROOM - used) {
        not_known = 1;
        return;
    }
    asked[used] = kind;
    memcpy(asked + used + 1, name, length + 1);
    used += length + 2;
}

static void note_file(const char *path, const char *mode)
{
    if (*mode == 'r' && strchr(mode, '+') == NULL)
        note('f', path);
    else
        not_known = 1;
}

char *__wrap_getenv(const char *name)
{
    note('e', name);
    return __real_getenv(name);
}

char *__wrap_secure_getenv(const char *name)
{
    note('e', name);
    return __real_secure_getenv(name);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    note_file(path, mode);
    return __real_fopen(path, mode);
}

FILE *__wrap_fopen64(const char *path, const char *mode)
{
    note_file(path, mode);
    return __real_fopen64(path, mode);
}

void hd_live_in_asked(void)
{
    hd_live_in_object(not_known ? NULL : asked, not_known ? 0 : used);
}
