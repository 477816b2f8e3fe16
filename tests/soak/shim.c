/* LD_PRELOAD: system calls that fail, do half, damage a byte or raise a signal when the n-th of them comes.
 *
 * What is to happen stands in a page that the harness and all processes of a run share ($SOAK_PAGE; page.py describes the
 * same bytes), so that a running process can be armed and disarmed. Without the page nothing happens. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum call { READ, WRITE, OPEN, CREATE, RENAME, UNLINK, MKDIR, RMDIR, FSYNC, TRUNCATE, MMAP, FORK, EXEC, THREAD, PIPE, LINK,
            LIST, CLOSE, SEND, RECEIVE, CONNECT, ACCEPT, SOCKET, MEMORY };
enum role { NOBODY = 0, COMMAND = 1, WORKER = 2, FILTER = 4, TOOL = 8 };
enum action { COUNT, FAIL, HALF, FLIP, SIGNAL, FULL };
enum { RULES = 160, PATTERN = 256, WHERE = 256 };

struct rule {
    atomic_int on;
    int roles, action, value, sticky; /* value: errno, signal, bytes of room; seed of the bit that is flipped */
    unsigned calls;                   /* a bit for each `enum call` */
    long nth;                         /* from 1 */
    char pattern[PATTERN];            /* part of the path; of an open file /proc/self/fd says it */
    atomic_long seen, struck, used;
    atomic_int said;
    char where[WHERE]; /* of the first call that was struck */
};
struct page {
    atomic_int count; /* of the rules that hold */
    struct rule rules[RULES];
};

static struct page *page;
static int role;

/* For a process that the harness has forked and not started. */
void soak_role(int which) { role = which; }

static int role_of_this_process(void)
{
    static char line[8192];
    ssize_t n;
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);

    n = fd < 0 ? 0 : read(fd, line, sizeof line - 1);
    if (fd >= 0)
        close(fd);
    for (ssize_t i = 0; i < n; i++)
        if (line[i] == '\0')
            line[i] = ' ';
    line[n > 0 ? n : 0] = '\0';
    if (strstr(line, "executor.worker"))
        return WORKER;
    if (strstr(line, "-m heterodoop") || strstr(line, "bin/heterodoop"))
        return COMMAND;
    if (strstr(line, "tests.soak"))
        return NOBODY;
    return strstr(line, ".hdp/bin/") ? FILTER : TOOL;
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("SOAK_PAGE");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;

    if (fd < 0)
        return;
    role = role_of_this_process();
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        page = NULL;
    close(fd);
}

/* How one call ends that a rule has struck: `rule` is NULL where none has. */
struct hit {
    struct rule *rule;
    size_t room; /* FULL: bytes that still fit */
};

static void strike(struct rule *rule, const char *call, const char *path)
{
    atomic_fetch_add(&rule->struck, 1);
    if (!atomic_exchange(&rule->said, 1))
        snprintf(rule->where, WHERE, "%s %s", call, path);
    if (rule->action == SIGNAL) {
        atomic_store(&rule->on, 0);
        kill(getpid(), rule->value);
    }
}

/* Whether this call is one for the rule to strike. `bytes`: what it would write. */
static int struck_by(struct rule *rule, size_t bytes, size_t *room)
{
    long n;

    if (rule->action == FULL) {
        n = atomic_fetch_add(&rule->used, (long)bytes);
        *room = n >= rule->value ? 0 : (size_t)(rule->value - n);
        return bytes ? *room < bytes : n >= rule->value;
    }
    n = atomic_fetch_add(&rule->seen, 1) + 1;
    return rule->action != COUNT && (rule->sticky ? n >= rule->nth : n == rule->nth);
}

static struct hit at_path(enum call call, const char *name, const char *path, size_t bytes)
{
    struct hit hit = {NULL, 0};
    int saved = errno;

    for (int i = 0; page && path && i < atomic_load(&page->count) && !hit.rule; i++) {
        struct rule *rule = &page->rules[i];
        if (atomic_load(&rule->on) && (rule->roles & role) && (rule->calls >> call & 1) && strstr(path, rule->pattern) &&
            struck_by(rule, bytes, &hit.room)) {
            hit.rule = rule;
            strike(rule, name, path);
        }
    }
    errno = saved;
    return hit;
}

static int wanted(enum call call)
{
    for (int i = 0; page && i < atomic_load(&page->count); i++)
        if (atomic_load(&page->rules[i].on) && (page->rules[i].roles & role) && (page->rules[i].calls >> call & 1))
            return 1;
    return 0;
}

static struct hit at_file(enum call call, const char *name, int fd, size_t bytes)
{
    struct hit none = {NULL, 0};
    char link[40], path[4096];
    int saved = errno;
    ssize_t n;

    if (!wanted(call))
        return none;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof path - 1);
    errno = saved;
    if (n < 0)
        return none;
    path[n] = '\0';
    return at_path(call, name, path, bytes);
}

static struct hit at_folder(enum call call, const char *name, int folder, const char *path, size_t bytes)
{
    struct hit none = {NULL, 0};
    char link[40], whole[4096];
    ssize_t n = 0;

    if (!wanted(call))
        return none;
    if (folder != AT_FDCWD && path[0] != '/') {
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        n = readlink(link, whole, sizeof whole - 1);
    }
    snprintf(whole + (n > 0 ? n : 0), sizeof whole - (size_t)(n > 0 ? n : 0), n > 0 ? "/%s" : "%s", path);
    return at_path(call, name, whole, bytes);
}

/* Memory of the product's own libraries: an interpreter that gets none is not ours to mend. */
static struct hit at_memory(void *caller)
{
    struct hit none = {NULL, 0};
    Dl_info from;
    int saved = errno, ours = wanted(MEMORY) && dladdr(caller, &from) && from.dli_fname && strstr(from.dli_fname, "libhd_");

    errno = saved;
    return ours ? at_path(MEMORY, "mmap", "memory", 0) : none;
}

/* Whether the call is not to be made at all: errno says why. */
static int fails(struct hit hit)
{
    if (!hit.rule || (hit.rule->action != FAIL && hit.rule->action != FULL))
        return 0;
    errno = hit.rule->action == FULL ? ENOSPC : hit.rule->value;
    return 1;
}

static size_t shortened(struct hit hit, size_t size)
{
    return hit.rule && hit.rule->action == HALF && size > 1 ? size / 2 : size;
}

static void flip(struct hit hit, void *data, ssize_t size)
{
    unsigned at = hit.rule && size > 0 ? (unsigned)hit.rule->value * 2654435761u : 0;

    if (hit.rule && hit.rule->action == FLIP && size > 0)
        ((unsigned char *)data)[at % (size_t)size] ^= (unsigned char)(1u << (at >> 24) % 8);
}

#define REAL(result, name, ...) \
    static result (*real)(__VA_ARGS__); \
    if (!real) \
    real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

/* What a struck write puts out instead of `data`. */
static ssize_t put(struct hit hit, int fd, const void *data, size_t size, off_t at, int seeks,
                   ssize_t (*put_at)(int, const void *, size_t, off_t), ssize_t (*put_here)(int, const void *, size_t))
{
    void *copy = NULL;
    ssize_t done;

    if (hit.rule && hit.rule->action == FULL && hit.room > 0 && hit.room < size) /* what fits is written, as by a disk */
        size = hit.room;
    else if (fails(hit))
        return -1;
    size = shortened(hit, size);
    if (hit.rule && hit.rule->action == FLIP && (copy = malloc(size ? size : 1))) {
        memcpy(copy, data, size);
        flip(hit, copy, (ssize_t)size);
        data = copy;
    }
    done = seeks ? put_at(fd, data, size, at) : put_here(fd, data, size);
    free(copy);
    return done;
}

ssize_t write(int fd, const void *data, size_t size)
{
    REAL(ssize_t, write, int, const void *, size_t);
    return put(at_file(WRITE, "write", fd, size), fd, data, size, 0, 0, NULL, real);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    REAL(ssize_t, pwrite, int, const void *, size_t, off_t);
    return put(at_file(WRITE, "pwrite", fd, size), fd, data, size, at, 1, real, NULL);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t at)
{
    REAL(ssize_t, pwrite64, int, const void *, size_t, off_t);
    return put(at_file(WRITE, "pwrite", fd, size), fd, data, size, at, 1, real, NULL);
}

ssize_t writev(int fd, const struct iovec *pieces, int count)
{
    REAL(ssize_t, writev, int, const struct iovec *, int);
    size_t size = 0;
    for (int i = 0; i < count; i++)
        size += pieces[i].iov_len;
    struct hit hit = at_file(WRITE, "writev", fd, size);
    if (fails(hit))
        return -1;
    return real(fd, pieces, hit.rule && hit.rule->action == HALF && count > 1 ? count / 2 : count);
}

ssize_t splice(int from, off64_t *here, int to, off64_t *there, size_t size, unsigned flags)
{
    REAL(ssize_t, splice, int, off64_t *, int, off64_t *, size_t, unsigned);
    struct hit hit = at_file(WRITE, "splice", to, size);
    return fails(hit) ? -1 : real(from, here, to, there, shortened(hit, size), flags);
}

ssize_t read(int fd, void *data, size_t size)
{
    REAL(ssize_t, read, int, void *, size_t);
    struct hit hit = at_file(READ, "read", fd, 0);
    ssize_t n = fails(hit) ? -1 : real(fd, data, shortened(hit, size));
    flip(hit, data, n);
    return n;
}

ssize_t pread(int fd, void *data, size_t size, off_t at)
{
    REAL(ssize_t, pread, int, void *, size_t, off_t);
    struct hit hit = at_file(READ, "pread", fd, 0);
    ssize_t n = fails(hit) ? -1 : real(fd, data, shortened(hit, size), at);
    flip(hit, data, n);
    return n;
}

ssize_t pread64(int fd, void *data, size_t size, off_t at)
{
    REAL(ssize_t, pread64, int, void *, size_t, off_t);
    struct hit hit = at_file(READ, "pread", fd, 0);
    ssize_t n = fails(hit) ? -1 : real(fd, data, shortened(hit, size), at);
    flip(hit, data, n);
    return n;
}

static mode_t mode_of(int flags, va_list words)
{
    return flags & (O_CREAT | __O_TMPFILE) ? (mode_t)va_arg(words, int) : 0;
}

#define OPENS(name) \
    int name(const char *path, int flags, ...) \
    { \
        REAL(int, name, const char *, int, ...); \
        va_list words; \
        va_start(words, flags); \
        mode_t mode = mode_of(flags, words); \
        va_end(words); \
        return fails(at_path(flags & O_CREAT ? CREATE : OPEN, "open", path, 0)) ? -1 : real(path, flags, mode); \
    }
OPENS(open)
OPENS(open64)

#define OPENS_AT(name) \
    int name(int folder, const char *path, int flags, ...) \
    { \
        REAL(int, name, int, const char *, int, ...); \
        va_list words; \
        va_start(words, flags); \
        mode_t mode = mode_of(flags, words); \
        va_end(words); \
        return fails(at_folder(flags & O_CREAT ? CREATE : OPEN, "open", folder, path, 0)) ? -1 \
                                                                                         : real(folder, path, flags, mode); \
    }
OPENS_AT(openat)
OPENS_AT(openat64)

/* Calls that fail or not, and have nothing that could be shorter or damaged. */
#define PLAIN(result, failed, name, hit, parameters, ...) \
    result name parameters \
    { \
        static result(*real) parameters; \
        if (!real) \
            real = (result(*) parameters)dlsym(RTLD_NEXT, #name); \
        return fails(hit) ? failed : real(__VA_ARGS__); \
    }
PLAIN(int, -1, rename, at_path(RENAME, "rename", to, 0), (const char *from, const char *to), from, to)
PLAIN(int, -1, renameat, at_folder(RENAME, "rename", there, to, 0), (int here, const char *from, int there, const char *to),
      here, from, there, to)
PLAIN(int, -1, link, at_path(LINK, "link", to, 0), (const char *from, const char *to), from, to)
PLAIN(int, -1, symlink, at_path(LINK, "symlink", to, 0), (const char *from, const char *to), from, to)
PLAIN(int, -1, unlink, at_path(UNLINK, "unlink", path, 0), (const char *path), path)
PLAIN(int, -1, unlinkat, at_folder(flags & AT_REMOVEDIR ? RMDIR : UNLINK, "unlink", folder, path, 0),
      (int folder, const char *path, int flags), folder, path, flags)
PLAIN(int, -1, rmdir, at_path(RMDIR, "rmdir", path, 0), (const char *path), path)
PLAIN(int, -1, mkdir, at_path(MKDIR, "mkdir", path, 0), (const char *path, mode_t mode), path, mode)
PLAIN(int, -1, mkdirat, at_folder(MKDIR, "mkdir", folder, path, 0), (int folder, const char *path, mode_t mode), folder, path,
      mode)
PLAIN(int, -1, fsync, at_file(FSYNC, "fsync", fd, 0), (int fd), fd)
PLAIN(int, -1, fdatasync, at_file(FSYNC, "fdatasync", fd, 0), (int fd), fd)
PLAIN(int, -1, ftruncate, at_file(TRUNCATE, "ftruncate", fd, 0), (int fd, off_t size), fd, size)
PLAIN(int, -1, ftruncate64, at_file(TRUNCATE, "ftruncate", fd, 0), (int fd, off64_t size), fd, size)
PLAIN(void *, MAP_FAILED, mmap, fd < 0 ? at_memory(__builtin_return_address(0)) : at_file(MMAP, "mmap", fd, 0),
      (void *at, size_t size, int protection, int flags, int fd, off_t from), at, size, protection, flags, fd, from)
PLAIN(void *, MAP_FAILED, mmap64, fd < 0 ? at_memory(__builtin_return_address(0)) : at_file(MMAP, "mmap", fd, 0),
      (void *at, size_t size, int protection, int flags, int fd, off64_t from), at, size, protection, flags, fd, from)
PLAIN(pid_t, -1, fork, at_path(FORK, "fork", "process", 0), (void), )
PLAIN(int, -1, execve, at_path(EXEC, "execve", path, 0), (const char *path, char *const words[], char *const environment[]),
      path, words, environment)
PLAIN(int, -1, pipe2, at_path(PIPE, "pipe", "pipe", 0), (int fds[2], int flags), fds, flags)
PLAIN(int, -1, socketpair, at_path(SOCKET, "socketpair", "socket", 0), (int domain, int type, int protocol, int fds[2]),
      domain, type, protocol, fds)
PLAIN(int, -1, memfd_create, at_path(CREATE, "memfd_create", name, 0), (const char *name, unsigned flags), name, flags)
PLAIN(int, -1, connect, at_file(CONNECT, "connect", fd, 0), (int fd, const struct sockaddr *to, socklen_t size), fd, to, size)
PLAIN(int, -1, accept4, at_file(ACCEPT, "accept", fd, 0),
      (int fd, struct sockaddr *restrict from, socklen_t *restrict size, int flags), fd, from, size, flags)
PLAIN(DIR *, NULL, opendir, at_path(LIST, "opendir", path, 0), (const char *path), path)
PLAIN(DIR *, NULL, fdopendir, at_file(LIST, "opendir", fd, 0), (int fd), fd)
PLAIN(ssize_t, -1, recvmsg, at_file(RECEIVE, "recvmsg", fd, 0), (int fd, struct msghdr *message, int flags), fd, message,
      flags)
PLAIN(ssize_t, -1, sendmsg, at_file(SEND, "sendmsg", fd, 0), (int fd, const struct msghdr *message, int flags), fd, message,
      flags)

/* A pthread function returns its error. */
int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*body)(void *),
                   void *restrict argument)
{
    REAL(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    return fails(at_path(THREAD, "pthread_create", "thread", 0)) ? EAGAIN : real(thread, attributes, body, argument);
}

int clone(int (*body)(void *), void *stack, int flags, void *argument, ...)
{
    REAL(int, clone, int (*)(void *), void *, int, void *, ...);
    return fails(at_path(FORK, "clone", "process", 0)) ? -1 : real(body, stack, flags, argument);
}

/* The file is closed all the same, as Linux does. */
int close(int fd)
{
    REAL(int, close, int);
    struct hit hit = at_file(CLOSE, "close", fd, 0);
    int saved, status = real(fd);

    saved = errno;
    if (fails(hit))
        return -1;
    errno = saved;
    return status;
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
    REAL(ssize_t, send, int, const void *, size_t, int);
    struct hit hit = at_file(SEND, "send", fd, 0);
    return fails(hit) ? -1 : real(fd, data, shortened(hit, size), flags);
}

ssize_t recv(int fd, void *data, size_t size, int flags)
{
    REAL(ssize_t, recv, int, void *, size_t, int);
    struct hit hit = at_file(RECEIVE, "recv", fd, 0);
    return fails(hit) ? -1 : real(fd, data, shortened(hit, size), flags);
}
