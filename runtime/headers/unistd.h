#ifndef HD_UNISTD_H
#define HD_UNISTD_H
#include <sys/types.h>
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#ifndef SEEK_SET
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#endif
#define R_OK 4
#define W_OK 2
#define X_OK 1
#define F_OK 0
#define _SC_PAGESIZE 30
#define _SC_NPROCESSORS_ONLN 84
ssize_t read(int fd, void *to, size_t size);
ssize_t write(int fd, const void *from, size_t size);
ssize_t pread(int fd, void *to, size_t size, off_t offset);
ssize_t pwrite(int fd, const void *from, size_t size, off_t offset);
off_t lseek(int fd, off_t offset, int whence);
int close(int fd);
int dup(int fd);
int dup2(int fd, int to);
int pipe(int fds[2]);
int fsync(int fd);
int ftruncate(int fd, off_t size);
int unlink(const char *path);
int rmdir(const char *path);
int access(const char *path, int mode);
int chdir(const char *path);
char *getcwd(char *to, size_t size);
int isatty(int fd);
pid_t getpid(void);
pid_t getppid(void);
uid_t getuid(void);
gid_t getgid(void);
pid_t fork(void);
int execv(const char *path, char *const argv[]);
int execvp(const char *file, char *const argv[]);
unsigned int sleep(unsigned int seconds);
int usleep(useconds_t microseconds);
unsigned int alarm(unsigned int seconds);
long sysconf(int name);
int gethostname(char *to, size_t size);
void _exit(int status);
int getopt(int argc, char *const argv[], const char *options);
extern char *optarg;
extern int optind;
extern int opterr;
extern int optopt;
#ifdef _GNU_SOURCE
extern char **environ;
#endif
#endif
