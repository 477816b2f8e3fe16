"""What the C compiler made of the user's files, kept in the cache under a hash of what it read: the preprocessed text.

A file is compiled again only where its text, a header's, the compiler, its words or the C library are others. Only answers
without any message are kept, and only those of which all is known that they depend on (`_untold`). Not here: files of ours
(`objects`), the cache itself.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from . import cache as build_cache
from . import cc
from .cc import CcOptions, CompilerPlace, Output
from .languages import is_cplusplus, is_source, word

# Where a line comes from: its number and whether it is the system's, but not the file, which lies elsewhere next time.
_MARKER = re.compile(r'# (?P<line>\d+) "(?:[^"\\]|\\.)*"(?P<flags>[ \d]*)')
# A compiler takes from elsewhere what these name: files that an assembler or #embed reads, the path of the source.
_READS = re.compile(r"\b(?:asm|__asm|__asm__|__builtin_FILE|__builtin_source_location)\b|^\s*#\s*embed\b")
_SYSTEM = "3"
OBJECTS, PROGRAMS = "objects", "filters"  # folders of the cache


class _NotKept(Exception):
    """A compiler said something, or made what cannot be kept; it lies where the caller wants it."""


def compile_object(source: str | os.PathLike[str], out: str | os.PathLike[str], options: CcOptions) -> Output:
    """As `toolchain.cc.compile_object`. Raises ToolError HD516 without a cache folder; OSError."""
    name = _text_name(source, options)
    said = Output(0, "", "")

    def make() -> bool:
        nonlocal said
        said = cc.compile_object(source, out, options)
        return not (said.returncode or said.stdout or said.stderr) and os.path.exists(out)

    _kept(OBJECTS, name and f"{name}.o", Path(out), make)
    return said


def program(
    sources: Sequence[str | Path], out: Path, options: CcOptions, *, quoted: Sequence[str], wrapped: Sequence[str],
    more: Sequence[str], make: Callable[[], bool],
) -> bool:
    """The program `out` of the sources as it was kept, else as `make` builds it, which says whether it may be kept.

    Returns whether it may: what it is made of is all in it. Raises as `make`, and as `compile_object`.
    """
    return _kept(PROGRAMS, _program_name(sources, options, quoted, wrapped, more), out, make)


def _kept(folder: str, name: str | None, out: Path, make: Callable[[], bool]) -> bool:
    if name is None:
        return make()
    ours = False

    def fill(partial: Path) -> None:
        nonlocal ours
        ours = True
        if not make():
            raise _NotKept
        shutil.copy(out, partial)

    try:
        made = build_cache.get(build_cache.folder() / folder / name, fill)
    except _NotKept:
        return False
    if not ours:
        shutil.copy(made, out)
    return True


def _program_name(
    sources: Sequence[str | Path], options: CcOptions, quoted: Sequence[str], wrapped: Sequence[str], more: Sequence[str],
) -> str | None:
    """None where a part cannot be told: libraries of the user's, archives, assembler."""
    parts: list[str] = []
    for source in sources:
        part = _text_name(source, options, quoted, more) if is_source(source) else _object_name(Path(source))
        if part is None:
            return None
        parts.append(part)
    compiler = cc.find_cc()
    if options.libraries or len(compiler) > 1:
        return None
    libraries = [build_cache.identity(cc.library_file(compiler, name)) for name in ("libc.a", "libm.a")]
    words = ["-Wl,--wrap", *wrapped, "more", *_lasting(more)]
    return build_cache.key([*_machine(compiler), build_cache.identity("ld"), *libraries, *words, "of", *parts])


def _object_name(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.suffix == ".o" else None


def _text_name(
    source: str | os.PathLike[str], options: CcOptions, quoted: Sequence[str] = (), more: Sequence[str] = (),
) -> str | None:
    """The hash for one file; None where the compiler must be asked."""
    compiler, place = cc.compiler_of(source), CompilerPlace.of([source])
    if len(compiler) > 1:  # words may name files, plug-ins and other programs
        return None
    cplusplus = is_cplusplus(source)
    words = [*compiler, "-E", *place.options(options).language_flags(cplusplus=cplusplus), *cc.TOLERANT, *more]
    words += [word for folder in quoted for word in ("-iquote", os.path.abspath(folder))]
    text = cc.run([*words, "-x", word(source), place.path(source)], timeout=300, cwd=place.cwd)
    if text.returncode or text.stderr or _untold(text.stdout):
        return None
    # Whether the same text gets a message may depend on the macros that it was written with.
    written = b"" if "-w" in more else Path(source).read_bytes()
    language = [word(source), options.cplusplus if cplusplus else options.std]
    flags = [*cc.FILTER_FLAGS, *options.math_flags(), *language, *_lasting(more)]
    lines = "\n".join(_placeless(text.stdout))
    return build_cache.key([*_machine(compiler), *flags, "of", lines, written])


def _machine(compiler: Sequence[str]) -> list[str]:
    about = cc.about(compiler)
    return [build_cache.identity(compiler[0]), about.version, about.library, *cc.environment()]


def _lasting(more: Sequence[str]) -> list[str]:
    """The words that do not end with the preprocessor."""
    return [word for word in more if not word.startswith("-D")]


def _untold(text: str) -> bool:
    """Does the answer depend on what does not stand in the text? The system's headers have none of it."""
    system = False
    for line in text.split("\n"):
        marker = _MARKER.fullmatch(line)
        if marker:
            system = _SYSTEM in marker["flags"].split()
        elif not system and _READS.search(line):
            return True
    return False


def _placeless(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        marker = _MARKER.fullmatch(line)
        yield f"# {marker['line']}{marker['flags']}" if marker else line
