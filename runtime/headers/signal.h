#ifndef HD_SIGNAL_H
#define HD_SIGNAL_H
#include <sys/types.h>
typedef int sig_atomic_t;
typedef void (*__hd_handler)(int);
#define SIG_DFL ((__hd_handler)0)
#define SIG_IGN ((__hd_handler)1)
#define SIG_ERR ((__hd_handler)-1)
#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGBUS 7
#define SIGFPE 8
#define SIGKILL 9
#define SIGUSR1 10
#define SIGSEGV 11
#define SIGUSR2 12
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGCHLD 17
#define SIGCONT 18
#define SIGSTOP 19
__hd_handler signal(int number, __hd_handler handler);
int raise(int number);
int kill(pid_t pid, int number);
#endif
