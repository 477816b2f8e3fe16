#ifndef HD_SYS_SOCKET_H
#define HD_SYS_SOCKET_H
#include <sys/types.h>
#define AF_INET 2
#define AF_INET6 10
#endif
