/* Linked into filters and prologues that take the C library of the machine they run on: it must be the one that the program
 * was compiled with, since another may read and print numbers otherwise, and kernels are made for that one. No API.
 *
 * Only names that C reserves are used, since the user may have functions of any other name.
 */
#define _GNU_SOURCE 1

#include <stdlib.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>

#define TEXT(number) #number
#define VERSION_OF(major, minor) TEXT(major) "." TEXT(minor)

enum { ANOTHER_LIBRARY = 126 };

extern long __write(int, const void *, unsigned long);

static void say(const char *text)
{
    const char *end = text;

    while (*end)
        end++;
    while (text < end) {
        const long n = __write(2, text, (unsigned long)(end - text));
        if (n <= 0)
            return;
        text += n;
    }
}

__attribute__((constructor(102))) static void check_library(void)
{
    static const char built[] = VERSION_OF(__GLIBC__, __GLIBC_MINOR__);
    const char *const here = gnu_get_libc_version();
    unsigned at = 0;

    while (built[at] && built[at] == here[at])
        at++;
    if (built[at] == here[at])
        return;
    say("HD520: this filter was compiled with glibc ");
    say(built);
    say(" and would read and print numbers as glibc ");
    say(here);
    say(" does, which this machine has: compile it here, or so that it can be linked statically\n");
    _Exit(ANOTHER_LIBRARY);
}
#else
typedef int hd_nothing;
#endif
