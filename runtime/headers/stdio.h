#ifndef HD_STDIO_H
#define HD_STDIO_H
#include <hd_types.h>
#include <stdarg.h>
#define EOF (-1)
#define BUFSIZ 8192
#define FILENAME_MAX 4096
#define FOPEN_MAX 16
#define L_tmpnam 20
#define TMP_MAX 238328
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define _IOFBF 0
#define _IOLBF 1
#define _IONBF 2
typedef struct _IO_FILE FILE;
#ifndef HD_HEADER_TEST
typedef struct { long hd_pos; unsigned long hd_state; } fpos_t;
#endif
extern FILE *stdin;
extern FILE *stdout;
extern FILE *stderr;
#define stdin stdin
#define stdout stdout
#define stderr stderr
int printf(const char *format, ...);
int fprintf(FILE *file, const char *format, ...);
int dprintf(int fd, const char *format, ...);
int sprintf(char *to, const char *format, ...);
int snprintf(char *to, size_t size, const char *format, ...);
int asprintf(char **to, const char *format, ...);
int vprintf(const char *format, va_list args);
int vfprintf(FILE *file, const char *format, va_list args);
int vsprintf(char *to, const char *format, va_list args);
int vsnprintf(char *to, size_t size, const char *format, va_list args);
int vasprintf(char **to, const char *format, va_list args);
int scanf(const char *format, ...);
int fscanf(FILE *file, const char *format, ...);
int sscanf(const char *text, const char *format, ...);
int vscanf(const char *format, va_list args);
int vfscanf(FILE *file, const char *format, va_list args);
int vsscanf(const char *text, const char *format, va_list args);
char *fgets(char *to, int size, FILE *file);
int fgetc(FILE *file);
int getc(FILE *file);
int getchar(void);
int getc_unlocked(FILE *file);
int getchar_unlocked(void);
int ungetc(int c, FILE *file);
ssize_t getline(char **line, size_t *capacity, FILE *file);
ssize_t getdelim(char **line, size_t *capacity, int delimiter, FILE *file);
int fputs(const char *text, FILE *file);
int puts(const char *text);
int fputc(int c, FILE *file);
int putc(int c, FILE *file);
int putchar(int c);
int putc_unlocked(int c, FILE *file);
int putchar_unlocked(int c);
size_t fread(void *to, size_t size, size_t count, FILE *file);
size_t fwrite(const void *from, size_t size, size_t count, FILE *file);
FILE *fopen(const char *path, const char *mode);
FILE *freopen(const char *path, const char *mode, FILE *file);
FILE *fdopen(int fd, const char *mode);
FILE *fmemopen(void *buffer, size_t size, const char *mode);
FILE *open_memstream(char **buffer, size_t *size);
FILE *popen(const char *command, const char *mode);
FILE *tmpfile(void);
int pclose(FILE *file);
int fclose(FILE *file);
int fflush(FILE *file);
int feof(FILE *file);
int ferror(FILE *file);
void clearerr(FILE *file);
int fileno(FILE *file);
int fseek(FILE *file, long offset, int whence);
int fseeko(FILE *file, off_t offset, int whence);
long ftell(FILE *file);
off_t ftello(FILE *file);
void rewind(FILE *file);
int fgetpos(FILE *file, fpos_t *pos);
int fsetpos(FILE *file, const fpos_t *pos);
int setvbuf(FILE *file, char *buffer, int mode, size_t size);
void setbuf(FILE *file, char *buffer);
void perror(const char *text);
int remove(const char *path);
int rename(const char *from, const char *to);
#endif
