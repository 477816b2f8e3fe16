"""Programs for the tests of the region IR: C text in, an `ir.Program` or a whole analysis out, each pass verified."""

from __future__ import annotations

import re
import tempfile
from functools import cache
from pathlib import Path

from heterodoop.compiler import passes
from heterodoop.compiler.emit import kernel
from heterodoop.compiler.lower.bind import bind
from heterodoop.compiler.source.frontend import load
from heterodoop.compiler.source.preprocess import TOKEN, CcRuns
from heterodoop.diag import Diagnostic, Sink
from heterodoop.toolchain.cc import CcOptions

# The declarations that the programs need, on one line: parsing whole headers would take most of the tests' time.
PRELUDE = " ".join("""
typedef unsigned long size_t; typedef long ssize_t; typedef struct _IO_FILE FILE; extern FILE *stdin, *stdout, *stderr;
int printf(const char *, ...); int fprintf(FILE *, const char *, ...); int sprintf(char *, const char *, ...);
int snprintf(char *, size_t, const char *, ...); int scanf(const char *, ...); int fscanf(FILE *, const char *, ...);
int sscanf(const char *, const char *, ...); char *fgets(char *, int, FILE *); int fputs(const char *, FILE *);
int puts(const char *); int putchar(int); int fputc(int, FILE *); size_t fwrite(const void *, size_t, size_t, FILE *);
int getchar(void); int fgetc(FILE *); ssize_t getline(char **, size_t *, FILE *); int fflush(FILE *);
ssize_t getdelim(char **, size_t *, int, FILE *); int feof(FILE *); FILE *fopen(const char *, const char *);
int fclose(FILE *); void *malloc(size_t); void *calloc(size_t, size_t); void *realloc(void *, size_t); void free(void *);
void exit(int) __attribute__((noreturn)); void _exit(int) __attribute__((noreturn));
void abort(void) __attribute__((noreturn)); char *getenv(const char *); int setenv(const char *, const char *, int);
int atoi(const char *); long atol(const char *);
long long atoll(const char *); double atof(const char *); long strtol(const char *, char **, int);
double strtod(const char *, char **);
unsigned long strtoul(const char *, char **, int); int rand(void); void srand(unsigned); long time(long *); int abs(int);
long labs(long); long long llabs(long long); double fabs(double); float sqrtf(float);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *)); char *setlocale(int, const char *);
char *strcpy(char *, const char *); char *strncpy(char *, const char *, size_t); char *strcat(char *, const char *);
char *strncat(char *, const char *, size_t);
int strcmp(const char *, const char *); int strncmp(const char *, const char *, size_t); size_t strlen(const char *);
int strcasecmp(const char *, const char *); char *strchr(const char *, int); char *strstr(const char *, const char *);
char *strtok(char *, const char *); char *strtok_r(char *, const char *, char **); char *strsep(char **, const char *);
size_t strcspn(const char *, const char *); char *strdup(const char *); void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t); int memcmp(const void *, const void *, size_t); void *memchr(const void *, int, size_t);
int isalpha(int); int isspace(int); int tolower(int); double sqrt(double); double floor(double); extern int errno;
""".split()) + " enum { EOF = -1, LC_ALL = 6 };\n#define NULL ((void *)0)\n"
LINES = PRELUDE.count("\n")  # that stand before a program's own
MAPPER = "#pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)"
COMBINER = (
    "#pragma mapreduce combiner key(prev) value(count) keyin(word) valuein(val) keylength(32) vallength(1) "
    "firstprivate(prev, count)"
)


_PREPROCESSOR = re.compile(r"(?m)^\s*#\s*(?!pragma mapreduce)|\\\n|_Pragma")  # what only a C compiler does


def preprocessed(text: str) -> str:
    """As `cc -E` makes it of a program that has no other macro than NULL."""
    return TOKEN.sub(lambda m: " " if m["comment"] else "((void *)0)" if m[0] == "NULL" else m[0], text)


@cache
def analyse(source: str) -> tuple[passes.Analysis, tuple[Diagnostic, ...]]:
    """All passes over a C program with one directive. `source` is complete but for library declarations."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.c"
        path.write_text(PRELUDE + source)
        text = PRELUDE.replace("\n#define NULL ((void *)0)", "\n") + source
        runs = None if _PREPROCESSOR.search(source) else CcRuns.given(str(path), preprocessed(text))
        unit = load(path, CcOptions(), runs)
        assert unit.refusal is None, unit.refusal
        sink = Sink()
        bound = bind(unit, sink)
        assert not sink.errors, sink.errors
        analysis = passes.run(unit, bound[0], sink, verify=True)
        return analysis, tuple(sink.errors)


def cuda(source: str) -> str:
    """The kernel of a program that has no reason against the GPU."""
    analysis, errors = analyse(source)
    assert not errors and not analysis.refusals, analysis.refusals
    return kernel.emit(analysis.facts.device, analysis.region.fold)


def mapper(body: str, *, before: str = "", helpers: str = "", after: str = "", pragma: str = MAPPER) -> str:
    """A line mapper with char k[32], int v and `body` in its record loop."""
    return (
        f"{helpers}\nint main(void) {{\n  char k[32], *line = NULL; size_t cap = 0; ssize_t n; int v;\n{before}\n{pragma}\n"
        f"  while ((n = getline(&line, &cap, stdin)) != -1) {{\n{body}\n  }}\n{after}\n  free(line);\n  return 0;\n}}\n"
    )


def combiner(body: str, *, before: str, loop: str = 'while (scanf("%31s %d", word, &val) == 2)', flush: str = "",
             helpers: str = "", pragma: str = COMBINER, after: str = "") -> str:
    """A combiner whose block is the loop with `body`, then `flush`."""
    return (
        f"{helpers}\nint main(void) {{\n{before}\n{pragma}\n  {{\n    {loop} {{\n{body}\n    }}\n{flush}\n  }}\n{after}"
        "  return 0;\n}\n"
    )


def classes(source: str) -> dict[str, str]:
    """Outside variable -> its class."""
    return {v.name: v.cls for v in analyse(source)[0].region.variables}


def codes(source: str) -> set[str]:
    """Codes of the reasons against the GPU."""
    return {r.code for r in analyse(source)[0].refusals}
