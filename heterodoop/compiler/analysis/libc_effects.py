"""THE table of what each library call reads and writes through its arguments; what is not in it is refused by name.

A row is words in call order, "N" an argument's number from 0:
  sN  reads the string at argument N              bN:M  reads argument-M bytes at N (b0:1*2 their product)
  SN  writes a string there, its NUL included     BN:M  writes argument-M bytes there, all of them
  aN  appends: reads the string and writes one    tN    writes some of it (how much is not known)
  pN  writes the whole object that N points to    rN    reads the whole object that N points to
  zN  puts NUL bytes into the string there
  =N  returns a pointer into argument N's object  =N?  the same, or NULL
  new / new?  returns a new object (or NULL)      ext  returns memory of the library that nobody writes; ext? or NULL
  >N:M  stores at N a pointer into argument M's object
  hidden state, by name: {errno} may be set, {strtok} ...
Plain functions of their values have an empty row. Effects that depend on the result (sscanf, fgets, strtok, snprintf)
are in `flow_calls`, which asks for them by name.
"""

from __future__ import annotations

import re
from typing import Literal

from ...values import dataclass

How = Literal["string", "bytes", "object", "some", "zero"]


@dataclass(frozen=True)
class Access:
    """Through argument `arg`; `size`: numbers of the arguments whose product is the length in bytes."""

    arg: int
    how: How
    size: tuple[int, ...] = ()


@dataclass(frozen=True)
class Effect:
    """`result`: "value", "arg" (pointer into `source`), "new" or "ext"; `null`: it may be NULL too."""

    reads: tuple[Access, ...] = ()
    writes: tuple[Access, ...] = ()
    result: Literal["value", "arg", "new", "ext"] = "value"
    source: int = 0
    null: bool = False
    stores: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class CallRefusal:
    """Why a call keeps a region on the CPU: an HDnnn and the sentence's end ("rand() is called: ...")."""

    code: str
    why: str


_ROWS: dict[str, str] = {
    # string.h, strings.h
    "strlen": "s0", "strnlen": "b0:1", "strcmp": "s0 s1", "strncmp": "b0:2 b1:2", "strcasecmp": "s0 s1",
    "strncasecmp": "b0:2 b1:2", "strcoll": "s0 s1", "memcmp": "b0:2 b1:2", "bcmp": "b0:2 b1:2",
    "strcpy": "s1 S0 =0", "stpcpy": "s1 S0 =0", "strncpy": "s1 B0:2 =0", "stpncpy": "s1 B0:2 =0",
    "strcat": "s1 a0 =0", "strncat": "s1 a0 =0", "strlcpy": "s1 S0", "strlcat": "s1 a0",
    "strchr": "s0 =0?", "strrchr": "s0 =0?", "strchrnul": "s0 =0", "index": "s0 =0?", "rindex": "s0 =0?",
    "strstr": "s0 s1 =0?", "strcasestr": "s0 s1 =0?", "strpbrk": "s0 s1 =0?", "strspn": "s0 s1", "strcspn": "s0 s1",
    "memchr": "b0:2 =0?", "memrchr": "b0:2 =0?", "rawmemchr": "b0:2 =0", "memmem": "b0:1 b2:3 =0?",
    "memcpy": "b1:2 B0:2 =0", "mempcpy": "b1:2 B0:2 =0", "memmove": "b1:2 B0:2 =0", "memset": "B0:2 =0",
    "bzero": "B0:1", "bcopy": "b0:2 B1:2", "strdup": "s0 new?", "strndup": "b0:1 new?", "strerror": "ext",
    # stdlib.h
    "atoi": "s0", "atol": "s0", "atoll": "s0", "atof": "s0", "abs": "", "labs": "", "llabs": "", "div": "", "ldiv": "",
    "strtol": "s0 p1 >1:0", "strtoll": "s0 p1 >1:0", "strtoul": "s0 p1 >1:0", "strtoull": "s0 p1 >1:0",
    "strtod": "s0 p1 >1:0", "strtof": "s0 p1 >1:0", "strtoimax": "s0 p1 >1:0", "strtoumax": "s0 p1 >1:0",
    "malloc": "new?", "calloc": "new?", "free": "", "realloc": "new?", "reallocarray": "new?", "aligned_alloc": "new?",
    "alloca": "new", "__hd_vla": "new",
    # ctype.h
    **dict.fromkeys(
        "isalpha isdigit isspace isalnum isupper islower ispunct isprint isgraph iscntrl isxdigit isblank isascii toascii "
        "tolower toupper _tolower _toupper".split(), ""),
    "__ctype_b_loc": "ext", "__ctype_tolower_loc": "ext", "__ctype_toupper_loc": "ext",
    # math.h: functions of their values
    **dict.fromkeys(
        [f + s for s in ("", "f", "l") for f in (
            "sqrt cbrt exp exp2 expm1 log log2 log10 log1p pow fabs floor ceil fmod round trunc rint nearbyint sin cos tan "
            "asin acos atan atan2 sinh cosh tanh asinh acosh atanh fmin fmax hypot copysign ldexp scalbn fdim fma erf erfc "
            "tgamma nextafter remainder logb").split()], ""),
    **dict.fromkeys("lround lroundf llround llroundf lrint lrintf llrint ilogb isnan isinf isfinite signbit".split(), ""),
    **dict.fromkeys(
        "__hd_isnan __hd_isinf __hd_isfinite __hd_isnormal __hd_signbit __hd_fpclassify __hd_isunordered __hd_huge_val "
        "__hd_inff __hd_nanf __fpclassify __signbit __isnan __isinf __finite fpclassify isnormal finite isnanf "
        "isinff".split(), ""),
    "modf": "p1", "modff": "p1", "frexp": "p1", "frexpf": "p1",
    # others that hold nothing back
    "fflush": "", "setvbuf": "", "setbuf": "", "ferror": "", "clearerr": "", "fileno": "", "htonl": "", "htons": "",
    "ntohl": "", "ntohs": "", "ffs": "", "__builtin_expect": "", "__builtin_unreachable": "", "__builtin_popcount": "",
    "__builtin_clz": "", "__builtin_ctz": "", "__builtin_popcountl": "", "__builtin_clzl": "", "__builtin_ctzl": "",
    "__builtin_popcountll": "", "__builtin_clzll": "", "__builtin_ctzll": "",
    "__builtin_bswap16": "", "__builtin_bswap32": "", "__builtin_bswap64": "",
    # what time.h makes strftime and strptime of
    "__hd_date_written": "s1 r2 p0", "__hd_date_read": "s0 s1 r2 p2",
    # what pass `callbacks` makes of qsort
    **dict.fromkeys(["__hd_sort_begin", "__hd_sort_next", "__hd_sort_left", "__hd_sort_right", "__hd_sort_put"], ""),
    "__hd_sort_end": "B1:2*3",
    # before or after the region only (see REFUSED; pass `environment` moves getenv); their effects matter all the same
    "getenv": "s0 ext?", "secure_getenv": "s0 ext?", "fopen": "s0 s1 new?", "freopen": "s0 s1 new?", "fclose": "",
    "feof": "",
    "rewind": "", "fseek": "", "ftell": "", "time": "p0", "clock": "", "rand": "", "srand": "", "random": "", "srandom": "",
    "drand48": "", "srand48": "", "rand_r": "r0 p0", "setlocale": "ext?", "getpid": "", "gettimeofday": "p0", "atexit": "",
    "fgetc": "", "getc": "", "getchar": "", "ungetc": "", "isatty": "", "access": "s0", "signal": "ext?", "sleep": "",
    "usleep": "", "unlink": "s0", "remove": "s0", "putenv": "", "setenv": "s0 s1", "unsetenv": "s0", "system": "s0",
    "localtime": "ext?", "fread": "t0", "fputs": "s0", "puts": "s0", "putchar": "", "fputc": "",
    "putc": "", "fwrite": "b0:1*2", "perror": "s0", "write": "b1:2", "read": "t1", "basename": "=0", "dirname": "=0",
}

REFUSED: dict[str, CallRefusal] = {
    **dict.fromkeys(
        "getenv secure_getenv".split(),
        CallRefusal("HD220", "its name is no string literal, or the program uses environ; call it before the loop")),
    **dict.fromkeys("setenv putenv unsetenv".split(), CallRefusal("HD220", "the environment is one for all records")),
    **dict.fromkeys(
        "rand srand random srandom drand48 srand48 lrand48 mrand48".split(),
        CallRefusal("HD221", "its numbers go on from record to record; rand_r with a seed made of the record does not")),
    **dict.fromkeys(
        "time clock gettimeofday clock_gettime getpid".split(),
        CallRefusal("HD221", "its result differs from run to run; call it before the loop")),
    **dict.fromkeys(
        "localtime localtime_r mktime ctime ctime_r".split(),
        CallRefusal("HD221", "it goes by the time zone (TZ) of the machine that runs it; count days and seconds of UTC by "
                             "arithmetic, 86400 seconds a day")),
    **dict.fromkeys(
        "regcomp regexec regerror regfree".split(),
        CallRefusal("HD223", "regular expressions are the CPU's only; sscanf's %[...], strstr, strspn and strcspn are not")),
    **dict.fromkeys(
        "mbstowcs mbtowc mblen wcstombs wctomb wcslen wcscpy wcsncpy wcscat wcscmp wcsncmp wcstok wcstol wcstod btowc wctob "
        "mbrtowc wcrtomb mbsrtowcs wcsrtombs fgetwc getwchar fputwc putwchar fgetws fputws wprintf fwprintf swprintf wscanf "
        "iswalnum iswalpha iswdigit iswlower iswpunct iswspace iswupper towlower towupper".split(),
        CallRefusal("HD222", "wide characters go by the machine's locale; UTF-8 can be compared and cut as bytes")),
    **dict.fromkeys(
        "fmemopen open_memstream tmpnam".split(),
        CallRefusal("HD229", "streams of one's own are read and written on the CPU only; walk over the text by a pointer")),
    **dict.fromkeys(
        "vsnprintf vsprintf vsscanf".split(),
        CallRefusal("HD235", "its arguments are a caller's; call snprintf, sprintf or sscanf with them")),
    "setlocale": CallRefusal("HD222", "numbers and characters would follow the machine's locale"),
    **dict.fromkeys(
        "setjmp _setjmp sigsetjmp __sigsetjmp longjmp siglongjmp _longjmp".split(),
        CallRefusal("HD216", "it jumps between functions")),
    **dict.fromkeys(
        "fopen freopen fclose fread fseek ftell rewind setvbuf setbuf open close read write unlink remove rename "
        "tmpfile mkstemp dup2 dprintf putw".split(),
        CallRefusal("HD229", "files are opened, read and written on the CPU only")),
    **dict.fromkeys("popen pclose system fork execvp".split(), CallRefusal("HD229", "programs are started on the CPU only")),
    **dict.fromkeys(
        "__builtin_va_start __builtin_va_end __builtin_va_copy".split(),
        CallRefusal("HD235", "the function takes a variable number of arguments")),
    **dict.fromkeys(
        "fputs fputc putc fwrite puts putchar perror".split(),
        CallRefusal("HD229", "it writes to another stream than stdout or stderr")),
    **dict.fromkeys(
        "printf fprintf vprintf vfprintf".split(),
        CallRefusal("HD229",
                    "write to stdout or stderr, with a literal format of C's own conversions, one for each argument")),
    "fflush": CallRefusal("HD229", "only fflush(stdout) or fflush(stderr) whose result nobody uses changes nothing"),
    **dict.fromkeys(
        "getchar getc fgetc getchar_unlocked getc_unlocked gets scanf fscanf getline getdelim fgets ungetc feof ferror "
        "clearerr".split(), CallRefusal("HD215", "the record loop's condition does all reading")),
    **dict.fromkeys(
        "aligned_alloc __builtin_alloca".split(),
        CallRefusal("HD219", "a record's memory must be of known size")),
    **dict.fromkeys("qsort bsearch atexit signal".split(),
                    CallRefusal("HD224", "it calls back a function that does not stand there by its name")),
    **dict.fromkeys("sleep usleep isatty access".split(), CallRefusal("HD229", "it asks the operating system")),
}

# Calls whose effects depend on their result or on an argument being NULL: see flow_calls.
CONDITIONAL = frozenset({"sscanf", "strtok", "strtok_r", "strsep", "snprintf", "sprintf", "__errno_location"})

_WORD = re.compile(r"([sbSBapztrw])(\d)(?::(\d)(?:\*(\d))?)?$")
_HOW: dict[str, How] = {
    "s": "string", "b": "bytes", "r": "object", "S": "string", "B": "bytes", "p": "object", "t": "some", "z": "zero",
}


def _parse(row: str) -> Effect:
    reads: list[Access] = []
    writes: list[Access] = []
    result: Literal["value", "arg", "new", "ext"] = "value"
    source, null = 0, False
    stores: list[tuple[int, int]] = []
    for word in row.split():
        match = _WORD.match(word)
        if match:
            letter, arg = match[1], int(match[2])
            size = tuple(int(g) for g in match.groups()[2:] if g is not None)
            if letter == "a":
                reads.append(Access(arg, "string"))
                writes.append(Access(arg, "string"))
            elif letter in "sbr":
                reads.append(Access(arg, _HOW[letter], size))
            else:
                writes.append(Access(arg, _HOW[letter], size))
        elif word.startswith(">"):
            stores.append((int(word[1]), int(word[3])))
        elif word.startswith("="):
            result, source, null = "arg", int(word[1]), word.endswith("?")
        else:
            result, null = ("new" if word.startswith("new") else "ext"), word.endswith("?")
    return Effect(tuple(reads), tuple(writes), result, source, null, tuple(stores))


EFFECTS: dict[str, Effect] = {name: _parse(row) for name, row in _ROWS.items()}


def writes(name: str) -> bool:
    """May a library call write through its arguments?"""
    return name in CONDITIONAL or (name in EFFECTS and bool(EFFECTS[name].writes))
