#ifndef HD_LIBGEN_H
#define HD_LIBGEN_H
char *dirname(char *path);
#define basename __xpg_basename
char *__xpg_basename(char *path);
#endif
