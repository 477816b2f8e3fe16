/* Linked into prologues: writes variables, and memory that they point to, to descriptor 3, and ends the process.
 *
 * A prologue is the user's own program whose region is replaced by calls of these functions (compiler/emit/prologue.py). Per
 * object: its address and its size in bytes (8 bytes each, little endian), then the bytes. NULL is address 0, size 0.
 * The reader is executor/kernel/prologue.py. Compiled apart from the user's program; only names that C reserves are called,
 * since the user may have functions of any other name.
 */
#define _GNU_SOURCE 1

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __GLIBC__
extern ssize_t __write(int, const void *, size_t);
#define write_some __write
#else
#define write_some write
#endif

enum { DESCRIPTOR = 3, CANNOT_WRITE = 125, TOO_LARGE = 124 };

void hd_live_in_object(const void *address, unsigned long size);
void hd_live_in_heap(const void *start);
void hd_live_in_string(const void *text);
unsigned long hd_live_in_room(const void *start, unsigned long most);
_Noreturn void hd_live_in_end(void);

/* The strings of the command line and the environment, which lie one behind the other: a pointer may lead anywhere into
 * one of them, so they are handed over as one object. */
static const char *strings, *strings_end;

static void note_strings(char *const *list)
{
    for (; *list != NULL; list++) {
        if (strings == NULL)
            strings = strings_end = *list;
        if (*list == strings_end)
            strings_end += strlen(*list) + 1;
    }
}

/* glibc gives a constructor main()'s arguments; this one runs before the program can change them. */
__attribute__((constructor(101))) static void note_arguments(int argc, char **argv, char **environment)
{
#ifdef __GLIBC__
    if (argc > 0) {
        note_strings(argv);
        note_strings(environment);
    }
#else
    (void)argc, (void)argv, (void)environment, (void)note_strings;
#endif
}

static void put(const void *data, size_t size)
{
    const char *at = data;

    while (size > 0) {
        ssize_t n = write_some(DESCRIPTOR, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _Exit(CANNOT_WRITE);
        at += n;
        size -= (size_t)n;
    }
}

/* A variable, with the address that pointers to it hold. */
void hd_live_in_object(const void *address, unsigned long size)
{
    const uint64_t head[2] = {(uint64_t)(uintptr_t)address, size};

    put(head, sizeof head);
    put(address, size);
}

/* What malloc or one of its kin returned; all of the block, which may be a few bytes more than was asked for. */
void hd_live_in_heap(const void *start)
{
    hd_live_in_object(start, start != NULL ? malloc_usable_size((void *)start) : 0);
}

/* The bytes of such memory, which records gather in; of more than there is a place for nothing is gathered. */
unsigned long hd_live_in_room(const void *start, unsigned long most)
{
    const unsigned long room = start != NULL ? malloc_usable_size((void *)start) : 0;

    if (room > most) {
        static const char why[] = "memory that records gather in is larger than a kernel has room for\n";
        ssize_t written = write_some(STDERR_FILENO, why, sizeof why - 1);
        (void)written;
        _Exit(TOO_LARGE);
    }
    return room;
}

/* Text that is no variable of the program: arguments, environment, literals, strings of the library. */
void hd_live_in_string(const void *text)
{
    const char *at = text;

    if (at == NULL)
        hd_live_in_object(NULL, 0);
    else if (strings != NULL && at >= strings && at < strings_end)
        hd_live_in_object(strings, (unsigned long)(strings_end - strings));
    else
        hd_live_in_object(at, strlen(at) + 1);
}

_Noreturn void hd_live_in_end(void)
{
    _Exit(0);
}
