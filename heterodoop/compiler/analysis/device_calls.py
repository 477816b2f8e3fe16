"""THE table of library calls on the device: how each is spelt, what it gets first, and where it is declared.

A row is a header of runtime/device and the functions that it declares: NAME, NAME=SPELLING where hd:: has it by another
name, `:err` or `:token` where the lane's errno or strtok state is the first argument, `:errno` where it is only if the
program looks at errno, `:lane` where the lane itself and the source line come first. Else
a device function has the C function's parameters and result. Only what gives the same bits
as the CPU filter's function is here (exp and its like are ours in both); a function without a row is refused by name
(`device.calls`).
"""

from __future__ import annotations

from typing import Literal

from ...toolchain.cc import MATH_FUNCTIONS, Libm
from ...values import dataclass

State = Literal["", "err", "token", "lane"]

_TABLE: dict[str, str] = {
    "libc/strings.cuh": (
        "strlen strnlen strcmp strcoll strncmp strcasecmp strncasecmp strcpy stpcpy strncpy stpncpy strcat strncat strchr "
        "strchrnul strrchr index rindex strstr strcasestr strpbrk strspn strcspn strtok:token strtok_r "
        "__strtok_r=strtok_r strsep"
    ),
    "libc/ctype.cuh": (
        "isalpha isdigit isspace isalnum isupper islower ispunct isprint isgraph iscntrl isxdigit isblank isascii toascii "
        "tolower toupper _tolower _toupper"
    ),
    "libc/memory.cuh": "memcpy mempcpy memmove memset bzero bcopy memcmp bcmp memchr memrchr rawmemchr memmem",
    "libc/arith.cuh": "abs labs llabs ffs rand_r htons ntohs htonl ntohl "
    "__builtin_bswap16=bswap16 __builtin_bswap32=bswap32 __builtin_bswap64=bswap64 "
    "__builtin_popcount=popcount __builtin_popcountl=popcountl __builtin_popcountll=popcountl "
    "__builtin_ctz=ctz __builtin_ctzl=ctzl __builtin_ctzll=ctzl __builtin_clz=clz __builtin_clzl=clzl __builtin_clzll=clzl",
    "libc/numbers.cuh": (
        "atoi:errno atol:errno atoll:errno atof:errno strtoimax:err strtoumax:err "
        "strtol:err strtoul:err strtoll:err strtoull:err strtod:err strtof:err"
    ),
    "lane/arena.cuh": (
        "malloc:lane calloc:lane realloc:lane reallocarray:lane strdup:lane strndup:lane free:lane alloca=scoped:lane "
        "__hd_vla=scoped:lane"
    ),
    "libc/dates.cuh": "__hd_date_written=date_written:lane __hd_date_read=date_read:lane",
    "lane/sort.cuh": " ".join(f"__hd_{name}={name}:lane" for name in (
        "sort_begin", "sort_next", "sort_left", "sort_right", "sort_put", "sort_end")),
    "libc/math.cuh": (
        "sqrt sqrtf fabs fabsf floor floorf ceil ceilf trunc truncf round roundf rint rintf fmod fmodf fmin fminf "
        "fmax fmaxf copysign copysignf nearbyint nearbyintf fma fmaf fdim fdimf scalbn scalbnf ldexp ldexpf frexp frexpf "
        "modf modff ilogb logb logbf lround lroundf llround llroundf lrint lrintf llrint __hd_isnan=isnan __hd_isinf=isinf "
        "__hd_isfinite=isfinite __hd_isnormal=isnormal __hd_fpclassify=fpclassify __hd_isunordered=isunordered"
    ),
    "libc/libm.cuh": " ".join(f"{name}{suffix}:errno" for name in MATH_FUNCTIONS for suffix in ("", "f")),
}

# What has nodes of its own in the device IR.
CONSTANTS = {"__hd_inff": "__builtin_inff()", "__hd_huge_val": "__builtin_huge_val()", "__hd_nanf": '__builtin_nanf("")'}
BUILT_IN = frozenset({"sprintf", "snprintf", "sscanf", "__errno_location", "__builtin_expect", *CONSTANTS})

_CPU_MATH = frozenset(
    name + suffix
    for name in (
        "asinh acosh atanh tgamma lgamma remainder nextafter".split()
    )
    for suffix in ("", "f", "l")
)
# What sets errno in a C library and leaves it on the device (as math.cuh says); which of them do depends on glibc's version.
_ERRNO_LEFT = frozenset(
    name + suffix
    for name in "sqrt fmod fdim fma scalbn ldexp logb ilogb lround llround lrint llrint".split()
    for suffix in ("", "f")
)
_OWN_MATH = frozenset(_TABLE["libc/libm.cuh"].replace(":errno", "").split())
MEMORY = frozenset(word.partition(":")[0].partition("=")[0] for word in _TABLE["lane/arena.cuh"].split())


@dataclass(frozen=True)
class DeviceCall:
    """`state` of the lane that the function gets first: "", "err", "token", "errno" (only where the program uses it);
    "lane": all of it, and the source line."""

    name: str
    spelling: str
    state: Literal["", "err", "token", "errno", "lane"]
    header: str

    def first(self, uses_errno: bool) -> State:
        """The state that it gets in a program, "" for none."""
        if self.state == "errno":
            return "err" if uses_errno else ""
        return self.state


_STATES: dict[str, Literal["", "err", "token", "errno", "lane"]] = {
    "": "", "err": "err", "token": "token", "errno": "errno", "lane": "lane"}


def _rows() -> dict[str, DeviceCall]:
    found = {}
    for header, words in _TABLE.items():
        for word in words.split():
            named, _, state = word.partition(":")
            name, _, spelling = named.partition("=")
            found[name] = DeviceCall(name, f"hd::{spelling or name}", _STATES[state], header)
    return found


CALLS: dict[str, DeviceCall] = _rows()


def find(name: str) -> DeviceCall | None:
    """The row of a library function."""
    return CALLS.get(name)


def why_not(name: str, libm: Libm = "own", uses_errno: bool = False) -> str:
    """Why a call keeps the region on the CPU, "" where the device has the function.

    uses_errno  the program looks at errno.
    """
    if uses_errno and name in _ERRNO_LEFT:
        return f"{name}() may set errno, which the program looks at, and does not on a GPU: test its arguments instead"
    if libm == "system" and name in _OWN_MATH:
        return f"{name}() is the C library's (--libm=system), whose last bits a GPU does not have, so it runs on the CPU"
    if find(name) is not None or name in BUILT_IN:
        return ""
    if name in _CPU_MATH:
        return f"{name}() may give other bits on a GPU than the C library's, so it runs on the CPU"
    return f"{name.removeprefix('__hd_')}() has no device form, so it runs on the CPU"
