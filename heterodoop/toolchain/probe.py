"""How the C library and the compiler of this machine behave, asked of a program that is built and run once (runtime/probe).

Programs print what their C library makes of their input, and libraries differ: glibc 2.38 reads 0b101 where 2.36 reads 0.
What kernels can do is listed in runtime/probe/known.txt, by the hash of all that a function says; where a macro stands
beside it, kernels do it if that is defined. Not here: which program needs what (`compiler.library`).
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from .. import resources
from ..errors import HeteroDoopError, ToolError
from ..values import dataclass
from . import cache as build_cache
from . import cc as toolchain
from . import compiler_words

LIBRARY_SOURCES = ("numbers.c", "text.c", "strings.c", "math.c", "sorts.c")


@dataclass(frozen=True)
class ProbedMachine:
    """What the probe found.

    library    its name and version, "glibc 2.36"; "unknown" for others than glibc.
    behaviour  function or conversion -> hash of what it does.
    strange    what compilers and kernels take for granted, and is not so here.
    failure    why there is no answer, "" where there is one.
    """

    library: str
    behaviour: dict[str, str]
    strange: tuple[str, ...] = ()
    failure: str = ""

    def macros(self, name: str) -> frozenset[str] | None:
        """What a kernel defines to behave so; None where kernels cannot. Of a name that is not asked about: nothing."""
        if name not in self.behaviour:
            return frozenset()
        return known().get((name, self.behaviour[name]))


def machine(folder: Path | None = None) -> ProbedMachine:
    """The probe's answer for $CC and its words, kept in the cache. Raises ToolError HD502, HD503, HD516; OSError.

    folder  of the cache, default `build_cache.folder()`.
    """
    return _machine(tuple(toolchain.find_cc()), folder or build_cache.folder())


@cache
def _machine(cc: tuple[str, ...], folder: Path) -> ProbedMachine:
    sources = build_cache.tree(resources.find("runtime", "probe"), (".c", ".h"))
    libraries = [build_cache.identity(toolchain.library_file(cc, name)) for name in ("libc.a", "libc.so.6")]
    parts = [*toolchain.FILTER_FLAGS, *cc, build_cache.identity(cc[0]), toolchain.version(cc), *libraries, *sources]
    made = folder / "probe" / f"{build_cache.key(parts)}.txt"
    try:
        return _read(build_cache.get(made, _ask).read_text(encoding="utf-8"))
    except HeteroDoopError as error:
        return ProbedMachine("unknown", {}, failure=error.message.partition("\n")[0])


def _ask(target: Path) -> None:
    """Build and run the probe: its main file as programs are compiled, what calls the library as files of ours are."""
    cc, source = toolchain.find_cc(), resources.find("runtime", "probe")
    words = [f"-std={toolchain.DEFAULT_STD}", "-w", "-g0"]
    main, probe = str(target.with_name("main.o")), str(target.with_name("probe"))
    _run([*compiler_words.quiet(cc), *toolchain.FILTER_FLAGS, *words, "-c", "-o", main, str(source / "main.c")])
    link = [*compiler_words.own(cc), *words, "-O0", "-fno-builtin", "-o", probe, main]
    link += [*(str(source / name) for name in LIBRARY_SOURCES), "-lm"]
    try:
        _run([*link, "-static"])
    except ToolError:
        _run(link)
    target.write_text(_run([probe]), encoding="utf-8")


def _run(argv: list[str]) -> str:
    done = toolchain.run(argv, timeout=60)
    if done.returncode:
        said = next((line for line in done.stderr.splitlines() if "error" in line), f"exit status {done.returncode}")
        raise ToolError(f"{os.path.basename(argv[0])}: {said}", code="HD503")
    return done.stdout


def _read(text: str) -> ProbedMachine:
    rows = [line.rpartition(" ") for line in text.splitlines()[1:]]
    library = text.partition("\n")[0].removeprefix("library ")
    language = {name: value for name, _, value in rows if name.startswith("language:")}
    strange = tuple(name.removeprefix("language:") for name, value in language.items() if value != "1")
    return ProbedMachine(library, {name: value for name, _, value in rows if name not in language}, strange)


@cache
def known() -> dict[tuple[str, str], frozenset[str]]:
    """(function or conversion, hash) -> the macros under which kernels behave so."""
    found = {}
    for line in resources.find("runtime", "probe", "known.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            head, _, last = line.rpartition(" ")
            name, value, macros = (head, last, "") if not last.startswith("HD_") else (*head.rsplit(" ", 1), last)
            found[name, value] = frozenset({macros} - {""})
    return found
