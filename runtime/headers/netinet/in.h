#ifndef HD_NETINET_IN_H
#define HD_NETINET_IN_H
#include <stdint.h>
#include <sys/socket.h>
#define INET_ADDRSTRLEN 16
#define INADDR_NONE ((in_addr_t)0xffffffff)
typedef uint32_t in_addr_t;
typedef uint16_t in_port_t;
#ifndef HD_HEADER_TEST
struct in_addr { in_addr_t s_addr; };
#endif
uint32_t htonl(uint32_t x);
uint16_t htons(uint16_t x);
uint32_t ntohl(uint32_t x);
uint16_t ntohs(uint16_t x);
#endif
