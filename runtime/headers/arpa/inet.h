#ifndef HD_ARPA_INET_H
#define HD_ARPA_INET_H
#include <hd_types.h>
#include <netinet/in.h>
int inet_aton(const char *text, struct in_addr *to);
in_addr_t inet_addr(const char *text);
char *inet_ntoa(struct in_addr address);
int inet_pton(int family, const char *text, void *to);

/* As the C library's. Numbers in octal or hexadecimal end the record, and so its task goes to the C library. */
#ifndef HD_HEADER_TEST
void abort(void);
void *memcpy(void *to, const void *from, size_t size);
int sprintf(char *to, const char *format, ...);
int inet_aton(const char *text, struct in_addr *to)
{
  unsigned long whole = 0, part;
  int n;
  for (n = 0; n < 4; n++) {
    if (*text < '0' || *text > '9')
      return 0;
    if (*text == '0' && ((text[1] >= '0' && text[1] <= '9') || (text[1] | 32) == 'x'))
      abort();
    for (part = 0; *text >= '0' && *text <= '9'; text++)
      if ((part = part * 10 + (*text - '0')) > 0xffffffff)
        return 0;
    if (*text != '.')
      break;
    if (n == 3 || part > 255)
      return 0;
    whole |= part << (24 - 8 * n);
    text++;
  }
  if ((*text != '\0' && *text != ' ' && (*text < '\t' || *text > '\r')) || part > 0xffffffff >> 8 * n)
    return 0;
  if (to != (struct in_addr *)0)
    to->s_addr = htonl(whole | part);
  return 1;
}
in_addr_t inet_addr(const char *text)
{
  struct in_addr made;
  return inet_aton(text, &made) ? made.s_addr : 0xffffffff;
}
char *inet_ntoa(struct in_addr address)
{
  static char kept[18];
  in_addr_t host = ntohl(address.s_addr);
  sprintf(kept, "%d.%d.%d.%d", (int)(host >> 24), (int)(host >> 16 & 255), (int)(host >> 8 & 255), (int)(host & 255));
  return kept;
}
int inet_pton(int family, const char *text, void *to)
{
  unsigned int whole = 0;
  if (family != AF_INET)
    abort();
  for (int n = 0; n < 4; n++) {
    unsigned int part = 0;
    int digits = 0;
    if (n > 0 && *text++ != '.')
      return 0;
    for (; *text >= '0' && *text <= '9'; text++, digits++)
      if ((digits > 0 && part == 0) || (part = part * 10 + (*text - '0')) > 255)
        return 0;
    if (digits == 0)
      return 0;
    whole = whole << 8 | part;
  }
  if (*text != '\0')
    return 0;
  whole = htonl(whole);
  memcpy(to, &whole, sizeof whole);
  return 1;
}
#endif
#endif
