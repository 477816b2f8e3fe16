#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct head { char tag[4]; short number[8]; };
struct huge { char first; char gap[200000]; char last; };
struct cursor { char *at; int left; };
static const char table[] = "0123456789";
static int column(const char *text, int at) { return text[at]; }
static void skip(struct cursor *c, int by) { c->at += by; }
int main(void) {
  char *line = NULL, own[100], small[40];
  size_t cap = 0;
  int n, at, value;
#pragma mapreduce mapper key(own) value(value)
  while ((n = (int)getline(&line, &cap, stdin)) != -1) {
    char *p;
    struct cursor c;
    int i;
    value = 0;
    strcpy(small, "small");
    at = atoi(line + 1);
    p = line[0] < 'a' ? small : line;
    switch (line[0]) {
    case 'a': value = column(table, 1) + column(line, at); break;
    case 'b': value = p[at]; break;
    case 'c': p += at; value = *p; break;
    case 'd': for (i = 0; i < at; i++) p++; value = *p; break;
    case 'e': for (i = 0; i > at; i--) p--; value = *p; break;
    case 'f': c.at = p; skip(&c, at); value = *c.at; break;
    case 'g': value = *(p - -at); break;
    case 'h': value = ((struct head *)p + at / 20)->number[0]; break;
    case 'i': value = at > 50 ? ((struct huge *)p)->last : ((struct huge *)p)->first; break;
    case 'j': value = (int)strlen(&p[at]); break;
    case 'k': value = strchr(p + at, '\n') != NULL; break;
    case 'l': printf("%s\t1\n", p + at); break;
    case 'm': i = at; while (i-- > 0) value = *p++; break;
    case 'n': memcpy(own, at[p] ? p : small, 4); value = own[2]; break;
    case 'o': p[at] = 'x'; value = 1; break;
    case 'p': ++p; p -= -at; value = p == line; break;
    }
    snprintf(own, sizeof own, "%c", line[0]);
    printf("%s\t%d\n", own, value);
  }
  return 0;
}
