"""Building filters and prologues that do the same on every machine: with the C library inside, where that is possible.

What a program prints depends on its C library, and nodes have others than the machine that compiles. A static program brings
its own. One that needs what a static one lacks (users' names, locales, plug-ins, shared libraries) gets an object that ends
it where the machine's library is another (runtime/cpu/same_library.c). Not here: words and messages of compilers
(`toolchain.cc`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ..errors import HeteroDoopError
from ..manifest import Linked
from . import cc, cxx, kept, objects
from .cc import CcOptions

# Calls that load files of the C library's own at run time, whatever it was linked with.
_LOADING = (
    "dlopen dlsym dladdr setlocale newlocale iconv_open catopen wordexp glob getpwnam getpwuid getpwnam_r getpwuid_r "
    "getpwent getgrnam getgrgid getgrnam_r getgrgid_r getgrent getgrouplist initgroups getlogin getaddrinfo gethostbyname "
    "gethostbyname_r gethostbyaddr getnameinfo getservbyname getservbyport getprotobyname getnetbyname res_query "
    "_ZNSt6localeC1EPKc _ZNSt6localeC1ERKS_PKci"  # std::locale(name) and std::locale(other, name, category)
).split()
_REFERENCE = re.compile(r"(?P<file>\S.*): reference to (?P<name>\w+)$", re.MULTILINE)
_LIBRARY = re.compile(
    r"lib(c|m|mvec|pthread|dl|rt|util|resolv|anl|gcc|gcc_eh|stdc\+\+|supc\+\+|c\+\+|c\+\+abi)(-[\d.]+)?\.a\("
)
_SHARED = frozenset({"-pie", "-rdynamic", "-static-pie", "-shared-libgcc", "-static-libasan"})  # against -static


def build(
    sources: Sequence[str | Path], out: Path, options: CcOptions, *, quoted: Sequence[str] = (), wrapped: Sequence[str] = (),
    more: Sequence[str] = (),
) -> Linked:
    """Compile and link a program as `toolchain.cc.build_filter`; says how it was linked. Raises as that does.

    A static one has all in it that it needs, so it is kept (`toolchain.kept`).
    """
    linked: Linked = "static"

    def make() -> bool:
        nonlocal linked
        linked = _build(sources, out, options, quoted, wrapped, more)
        return linked == "static"

    kept.program(sources, out, options, quoted=quoted, wrapped=wrapped, more=more, make=make)
    return linked


def link_cplusplus(parts: Sequence[Path], out: Path, options: CcOptions) -> Linked:
    """Link objects of which some are C++ as `build` does, by the C++ compiler, which knows its library.

    Raises as that, ToolError HD510. Not kept: of the libraries that it takes nobody says the names.
    """
    return _build(parts, out, options, (), (), (), tuple(cxx.users()))


def _build(
    sources: Sequence[str | Path], out: Path, options: CcOptions, quoted: Sequence[str], wrapped: Sequence[str],
    more: Sequence[str], linker: Sequence[str] = (),
) -> Linked:
    if wrapped:
        whole = out.with_name(f"{out.name}.wrapped.o")
        if _wrap(sources, whole, options, quoted, wrapped, more):
            sources, wrapped = [whole], ()
    if _build_static(sources, out, options, quoted, wrapped, more, linker):
        return "static"
    check = objects.own_object("cpu", "same_library.c")
    cc.build_filter([check, *sources], out, options, quoted=quoted, wrapped=wrapped, more=more, linker=linker)
    return "static" if b"/ld-" not in _interpreter(out) else "dynamic"


def _wrap(
    sources: Sequence[str | Path], whole: Path, options: CcOptions, quoted: Sequence[str], wrapped: Sequence[str],
    more: Sequence[str],
) -> bool:
    """Link the program's own files alone: in a static program the library's calls would be led there too."""
    try:
        cc.build_filter(sources, whole, options, quoted=quoted, wrapped=wrapped, more=more, partial=True)
    except HeteroDoopError:  # what is wrong is said by the whole link
        return False
    return True


def _build_static(
    sources: Sequence[str | Path], out: Path, options: CcOptions, quoted: Sequence[str], wrapped: Sequence[str],
    more: Sequence[str], linker: Sequence[str],
) -> bool:
    """Try it; False where it cannot be done, or would not be the same program."""
    if _SHARED & set(linker or cc.find_cc()):
        return False
    traced = [f"-Wl,--trace-symbol={name}" for name in _LOADING]
    said: list[str] = []
    try:
        cc.build_filter(
            sources, out, options, quoted=quoted, wrapped=wrapped, more=[*more, "-static", *traced], said=said,
            linker=linker,
        )
    except HeteroDoopError:  # without -static the compiler says what is wrong with the program itself
        return False
    found = [m for text in said for m in _REFERENCE.finditer(text)]
    return not any(not _LIBRARY.search(m["file"]) for m in found)


def _interpreter(program: Path) -> bytes:
    """The loader that a program asks for, with what surrounds it in the file's beginning."""
    with open(program, "rb") as file:
        return file.read(4096)
