/* Linked into every CPU filter: 64 KiB buffers for stdin and stdout, where glibc takes 4 KiB for a pipe. No API.
 *
 * Compiled apart from the user's program, so that his -D and -std do not reach it. The program notices nothing: its own
 * setvbuf, freopen, fclose and fork work as ever. See docs/decisions/0006.
 *
 * A user's function may bear any name that C does not reserve, and this file would call it instead of the library's
 * (`fstat` is a good name in a statistics program). So only names that C reserves are used, and fstatat64.
 */
#define _GNU_SOURCE 1
#define _FILE_OFFSET_BITS 64

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#ifdef __GLIBC__
#include <stdio_ext.h>
#endif
#include <sys/stat.h>

enum { BUFFER_BYTES = 1 << 16 }; /* a pipe's default capacity: one read() takes all of it */

static char input_buffer[BUFFER_BYTES];
static char output_buffer[BUFFER_BYTES];

/* Pipes and regular files only: a terminal needs its line buffering, and a closed descriptor may become anything. */
static int is_bulk(int descriptor)
{
    struct stat status;

    return fstatat(descriptor, "", &status, AT_EMPTY_PATH) == 0 && (S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode));
}

/* Does anybody (a library's constructor, `stdbuf`) use the stream already, or want it line-buffered? */
static int is_taken(FILE *stream)
{
#ifdef __GLIBC__
    return __fbufsize(stream) != 0 || __flbf(stream) != 0;
#else
    (void)stream;
    return 0;
#endif
}

static void enlarge(FILE *stream, int descriptor, char *buffer)
{
    if (is_bulk(descriptor) && !is_taken(stream))
        (void)setvbuf(stream, buffer, _IOFBF, BUFFER_BYTES);
}

/* 101 is the first priority that is not the implementation's own: the user's constructors find the buffers in place. */
__attribute__((constructor(101))) static void enlarge_standard_buffers(void)
{
    int saved = errno;

    enlarge(stdin, 0, input_buffer);
    enlarge(stdout, 1, output_buffer);
    errno = saved;
}
