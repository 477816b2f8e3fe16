"""The C compiler: finding it, running it without a shell, reading what it says.

Every word of a command is one argv element; a path that could be taken for an option or a response file gets `./` in
front. Not here: what is compiled and why (`compiler`, the engine), nvcc.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import cache
from typing import Literal

from .. import interrupts, last_resort, scratch, together
from ..diag import Diagnostic, Severity
from ..errors import ToolError, UserError
from ..source import Span
from ..values import dataclass
from . import compiler_words, cxx
from .languages import is_cplusplus, word

FILTER_FLAGS = ("-O3", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off")
DEFAULT_STD = "gnu11"
TOLERANT = ("-Wno-unknown-pragmas", "-fno-diagnostics-color")  # our pragma is no mistake; messages are read, not shown
# What runtime/math has, in double and float form (exp, expf); runtime/math/functions.h is the same list.
MATH_FUNCTIONS = (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh cbrt erf erfc pow atan2 hypot".split()
)
Libm = Literal["own", "system"]
INCLUDE_VARIABLES = ("CPATH", "C_INCLUDE_PATH")  # folders that gcc and clang look into, too
# What else than its words leads a C or C++ compiler to other headers, libraries and programs.
_LEADING = (*INCLUDE_VARIABLES, "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX")
_TAIL = 4000


@dataclass(frozen=True)
class CcOptions:
    """What a user may say about compiling his C and C++: -I, -D, -l (names without the dash and letter) and -std.

    cplusplus  the standard of C++ files; "" = the compiler's own.
    libm  whose exp, log, pow ... the filters call: "own" (runtime/math, as kernels do) or "system" (the C library).
    """

    includes: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    std: str = DEFAULT_STD
    libm: Libm = "own"
    cplusplus: str = ""

    def preprocessor_flags(self, standard: str) -> list[str]:
        said = [f"-std={standard}"] if standard else []
        return [*said, *(f"-I{plain_path(i)}" for i in self.includes), *(f"-D{d}" for d in self.defines)]

    def math_flags(self) -> list[str]:
        """gcc computes exp(1) itself and makes x * x of pow(x, 2), in other bits: not where the functions are ours."""
        return [f"-fno-builtin-{n}{s}" for n in MATH_FUNCTIONS for s in ("", "f")] if self.libm == "own" else []

    def language_flags(self, *, cplusplus: bool = False) -> list[str]:
        """All that says how a program of the user's is understood: for its filter, and whoever looks at its text."""
        return [*FILTER_FLAGS, *self.math_flags(), *self.preprocessor_flags(self.cplusplus if cplusplus else self.std)]

    def link_flags(self) -> list[str]:
        """The math library comes last: filters that call sqrt() should not need -lm."""
        return [*(f"-l{name}" for name in self.libraries), "-lm"]

    @property
    def gnu(self) -> bool:
        """Are `asm` and `typeof` keywords?"""
        return not self.std.startswith(("c", "iso"))


@dataclass(frozen=True)
class Output:
    """What a finished command left. Text is decoded as UTF-8 with surrogate escapes."""

    returncode: int
    stdout: str
    stderr: str


def plain_path(path: str | os.PathLike[str]) -> str:
    """`path` as an argument that no compiler takes for an option (`-o`) or a response file (`@args`)."""
    text = os.fspath(path)
    return f"./{text}" if text.startswith(("-", "@")) else text


def as_printed(path: str) -> str:
    """A path as it stands in text that is read as UTF-8, whatever the locale's encoding of names is."""
    return os.fsencode(path).decode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class CompilerPlace:
    """Where the compiler runs, and how paths are spelled for it. `cwd` None: here, as the user spelled them.

    gcc hands a source's bare name to its passes as the base of dump files, and a pass takes `@name` for a response file
    if there is one: such a source is compiled from a folder that has none, by absolute paths.
    """

    cwd: str | None

    @classmethod
    def of(cls, paths: Sequence[str | os.PathLike[str]]) -> CompilerPlace:
        return cls("/" if any(os.path.basename(os.fspath(p)).startswith("@") for p in paths) else None)

    def path(self, path: str | os.PathLike[str]) -> str:
        return plain_path(path) if self.cwd is None else os.path.abspath(path)

    def options(self, options: CcOptions) -> CcOptions:
        return options if self.cwd is None else absolute(options)


def absolute(options: CcOptions) -> CcOptions:
    """The same options for a compiler that runs in another folder."""
    return replace(options, includes=tuple(os.path.abspath(i) for i in options.includes))


def find_cc(environ: Mapping[str, str] = os.environ) -> list[str]:
    """The C compiler as the start of an argv: $CC (words allowed, `ccache gcc`), else cc, else gcc from PATH.

    Raises ToolError HD502 where there is none; a $CC that does not exist is never replaced by another compiler.
    """
    chosen = environ.get("CC", "").strip()
    try:
        words = shlex.split(chosen)
    except ValueError:
        words = [chosen]
    candidates = [words] if words else [["cc"], ["gcc"]]
    for candidate in candidates:
        path = shutil.which(candidate[0], path=environ.get("PATH", os.defpath))
        if path:
            return [path, *candidate[1:]]
    looked = f"$CC={chosen}" if words else "$CC, cc, gcc"
    raise ToolError(
        f"C compiler not found (looked for {looked})", code="HD502",
        help="install gcc (Debian, Ubuntu: apt install gcc libc6-dev) or set CC to your compiler",
    )


def compiler_of(source: str | os.PathLike[str]) -> list[str]:
    """The compiler of a file of the user's: $CXX with $CXXFLAGS for C++, else $CC. Raises ToolError HD502, HD510."""
    return cxx.users() if is_cplusplus(source) else find_cc()


def standard(environ: Mapping[str, str] = os.environ) -> str:
    """The C standard of programs for which no other is asked: what $CC says, else gnu11. Raises as `find_cc`."""
    return compiler_words.standard(find_cc(environ)) or DEFAULT_STD


def run(
    argv: Sequence[str], *, stdin: str = "", cwd: str | None = None, timeout: float = 120,
    environ: Mapping[str, str] = os.environ,
) -> Output:
    """Run one command without a shell, in the C locale, in its own process group. `timeout` is in seconds.

    Its temporary files go with it, however it ends. Raises ToolError HD503 where it cannot be started or does not end in
    time (then the whole group is killed).
    """
    with temporary_files(environ) as own:
        env = {**own, "LC_ALL": "C", "LANGUAGE": "C", "SOURCE_DATE_EPOCH": build_time()}
        with _started(argv, cwd, env) as process:
            try:
                out, err = process.communicate(stdin.encode("utf-8", "surrogateescape"), timeout=timeout)
            except subprocess.TimeoutExpired:
                raise ToolError(f"{argv[0]} did not end within {timeout:g} s", code="HD503") from None
    decode = "utf-8", "surrogateescape"
    return Output(process.returncode, out.decode(*decode), err.decode(*decode))


@contextmanager
def temporary_files(environ: Mapping[str, str] = os.environ) -> Iterator[dict[str, str]]:
    """The environment of a tool whose temporary files lie in a folder of ours: it leaves them where it is killed.

    Where there is no room for a folder the tool says so itself, if it needs one.
    """
    with ExitStack() as stack:
        own = {}
        with suppress(OSError):
            own = {"TMPDIR": str(stack.enter_context(scratch.folder("tool-")))}
        yield {**environ, **own}


@contextmanager
def _started(argv: Sequence[str], cwd: str | None, env: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """The process; where the block does not see its end, its whole group is killed. Raises ToolError HD503."""
    with ExitStack() as stack:
        with interrupts.held():
            try:
                process = subprocess.Popen(
                    argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd, env=env,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
                raise ToolError(f"cannot run {argv[0]}: {why}", code="HD503") from None
            stack.enter_context(process)
            stack.enter_context(last_resort.owing(lambda: _kill_group(process)))
        stack.enter_context(together.ending(lambda: _kill_group(process)))
        yield process


@cache
def build_time() -> str:
    """What __DATE__ and __TIME__ are in all that this process compiles, as seconds: now, in local time as compilers have it.

    $SOURCE_DATE_EPOCH where it is set. A filter and its kernel would otherwise be compiled at two times.
    """
    now = int(time.time())
    return os.environ.get("SOURCE_DATE_EPOCH") or str(now + time.localtime(now).tm_gmtoff)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End the command and its children, unless it has ended."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def patience(environ: Mapping[str, str] = os.environ) -> float:
    """Seconds that a compiler gets for the text of a kernel: HETERODOOP_COMPILER_SECONDS, else ten minutes."""
    try:
        return max(float(environ.get("HETERODOOP_COMPILER_SECONDS", "")), 1.0)
    except ValueError:
        return 600.0


def ended(returncode: int) -> str:
    """How a command ended that printed nothing."""
    return f"signal {-returncode}" if returncode < 0 else f"exit status {returncode}"


def main_line(said: str) -> str:
    """The line of a compiler's messages that says what is wrong, at most 300 characters of it."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return next((line for line in lines if re.search(r"\berror\b", line)), lines[-1] if lines else "")[:300]


@dataclass(frozen=True)
class About:
    """What a C compiler says of itself and its machine when it is run once.

    version  the line that names it: "gcc version 12.2.0 (Debian 12.2.0-14+deb12u1)".
    library  the C library that programs are compiled with: "glibc 2.36", "unknown" for others.
    folders  where it looks for libraries; () where it does not say.
    """

    version: str
    library: str
    folders: tuple[str, ...]


def about(cc: Sequence[str]) -> About:
    """Raises ToolError HD503. Words that have nothing to do with the machine are left out."""
    return _about(tuple(compiler_words.own(cc)), environment())


@cache
def _about(cc: tuple[str, ...], around: tuple[str, ...]) -> About:
    text = "#include <limits.h>\nglibc __GLIBC__ __GLIBC_MINOR__\n"
    said = run([*cc, "-v", "-E", "-P", "-w", "-x", "c", "-"], stdin=text, timeout=30)
    version = re.search(r"^.*\bversion \d.*$", said.stderr, re.MULTILINE)
    named = version[0] if version else run([*cc, "--version"], timeout=30).stdout.partition("\n")[0]
    glibc = re.search(r"^glibc (\d+) (\d+)$", said.stdout, re.MULTILINE)
    folders = re.search(r"^LIBRARY_PATH=(.*)$", said.stderr, re.MULTILINE)
    return About(
        named.strip(), f"glibc {glibc[1]}.{glibc[2]}" if glibc else "unknown",
        tuple(folders[1].split(os.pathsep)) if folders else (),
    )


def version(cc: Sequence[str]) -> str:
    """The compiler's name and version in one line. Raises ToolError HD503."""
    return about(cc).version


def environment(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """What a C or C++ compiler takes from the environment, whatever it compiles: where it looks for files."""
    return tuple(environ.get(name, "") for name in _LEADING)


def library() -> str:
    """The C library of $CC (`About`). Raises ToolError HD502, HD503."""
    return about(find_cc()).library


def before_c23(library: str) -> bool:
    """Is it a library whose headers lead no function to that of C23? From 2.38 on those of glibc do."""
    found = re.fullmatch(r"glibc (\d+)\.(\d+)", library)
    return found is not None and (int(found[1]), int(found[2])) < (2, 38)


def library_file(cc: Sequence[str], name: str) -> str:
    """The path of a library's file as the linker finds it, its name alone where there is none. Raises ToolError HD503."""
    folders = about(cc).folders
    if not folders:
        return run([*cc, f"-print-file-name={name}"], timeout=30).stdout.strip()
    return next((path for folder in folders if os.path.exists(path := os.path.join(folder, name))), name)


@cache
def header_folders(cc: tuple[str, ...]) -> frozenset[str]:
    """Where the compiler looks for `#include <...>` by itself, without links. Raises ToolError HD503."""
    plain = {name: value for name, value in os.environ.items() if name not in INCLUDE_VARIABLES}
    told = run([*cc, "-E", "-v", "-x", "c", os.devnull], timeout=30, environ=plain).stderr
    listed = told.partition("#include <...> search starts here:\n")[2].partition("End of search list.")[0]
    return frozenset(os.path.realpath(line.strip()) for line in listed.splitlines() if line.strip())


def compile_object(source: str | os.PathLike[str], out: str | os.PathLike[str], options: CcOptions) -> Output:
    """Compile a file of the user's as it is in a filter, into an object that `build_filter` takes (see `made_object`)."""
    cc, place = compiler_of(source), CompilerPlace.of([source, out])
    flags = place.options(options).language_flags(cplusplus=is_cplusplus(source))
    words = [*cc, *flags, *TOLERANT, "-ftabstop=1", "-c", "-o", place.path(out)]
    return run([*words, "-x", word(source), place.path(source)], timeout=300, cwd=place.cwd)


def made_object(result: Output, source: str | os.PathLike[str], out: str | os.PathLike[str]) -> None:
    """Raises as `build_filter` where `compile_object` left no object."""
    cc, place = compiler_of(source), CompilerPlace.of([source, out])
    check(cc[0], result, {place.path(source): os.fspath(source)})
    if not os.path.exists(out):
        raise _nothing_made(cc)


def _nothing_made(cc: Sequence[str]) -> ToolError:
    return ToolError(
        f"{shlex.join(cc)} made no program: it was told to do something else", code="HD503",
        help="take words like -c, -E, -S and -fsyntax-only out of CC (of a C++ program: CXX, CXXFLAGS)",
    )


def build_filter(
    sources: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str], options: CcOptions, *, timeout: float = 300,
    quoted: Sequence[str | os.PathLike[str]] = (), wrapped: Sequence[str] = (), more: Sequence[str] = (),
    said: list[str] | None = None, partial: bool = False, linker: Sequence[str] = (),
) -> list[Diagnostic]:
    """Compile and link a CPU filter. Returns the compiler's warnings.

    quoted   folders in which `#include "name"` looks after the including file's own.
    wrapped  functions of which calls go to __wrap_NAME, which finds the function itself as __real_NAME (ld's --wrap).
    more     further words for the compiler.
    said     gets all that compiler and linker print.
    partial  make one object of the sources, for a later link.
    linker   a compiler other than $CC, for sources that are objects.

    Floating-point contraction, strict aliasing and undefined signed overflow are off, so that the filter computes what
    a kernel made from the same source computes.
    Raises UserError HD300 (C errors) or HD301 (link errors) with the compiler's text, ToolError HD502, HD503.
    """
    cc, place = list(linker) or find_cc(), CompilerPlace.of([*sources, out])
    flags = FILTER_FLAGS if linker else place.options(options).language_flags()
    words = [*cc, *flags, *TOLERANT, *more, "-o", place.path(out)]
    words += [word for folder in quoted for word in ("-iquote", os.path.abspath(folder))]
    for source in sources:
        # Whoever names the language of a file to g++ gets no library of C++.
        words += [*([] if linker else ["-x", word(source)]), place.path(source)]
    words += [*([] if linker else ["-x", "none"]), *(f"-Wl,--wrap={name}" for name in wrapped)]
    words += ["-r", "-nostdlib"] if partial else options.link_flags()
    result = run(words, timeout=timeout, cwd=place.cwd)
    if said is not None:
        said += [result.stdout, result.stderr]
    warnings = check(cc[0], result, {place.path(s): os.fspath(s) for s in sources})
    if not os.path.exists(out) or not (partial or os.access(out, os.X_OK)):
        raise _nothing_made(cc)
    return warnings


def build_object(source: str | os.PathLike[str], out: str | os.PathLike[str], *, timeout: float = 60) -> None:
    """Compile a C file of our own into an object that `build_filter` takes: no -D, -I, -std or -W of the user's reaches it.

    Raises as `build_filter`.
    """
    cc, place = find_cc(), CompilerPlace.of([source, out])
    words = [*compiler_words.own(cc), f"-std={DEFAULT_STD}", *FILTER_FLAGS, "-c", "-o", place.path(out)]
    words += ["-x", word(source), place.path(source)]
    check(cc[0], run(words, timeout=timeout, cwd=place.cwd), {place.path(source): os.fspath(source)})


def check(tool: str, result: Output, names: Mapping[str, str]) -> list[Diagnostic]:
    """Warnings of a successful run; a failed one raises UserError, or ToolError HD503 where no error was printed.

    names   path as passed to the tool -> path as the user wrote it.
    """
    found = read_messages(result.stderr, names)
    errors = [d for d in found if d.severity == "error"]
    if result.returncode == 0:
        return [d for d in found if d.severity == "warning"]
    if errors:
        raise UserError(errors)
    if "undefined reference" in result.stderr or "ld returned" in result.stderr or "cannot find -l" in result.stderr:
        text = result.stderr.strip()
        first = next((line for line in text.split("\n") if "undefined reference" in line or "cannot find" in line), text)
        message = first.rpartition(": ")[2] if "undefined reference" in first else first
        raise UserError([Diagnostic("error", "HD301", f"linking failed: {message.strip()}", text=text[-_TAIL:])])
    how = ended(result.returncode)
    tail = result.stderr.strip()[-_TAIL:] or "it printed no message"
    raise ToolError(f"{tool} failed ({how}): {tail}", code="HD503")


_PREFACE = re.compile(r"(?:In file included from |\s+from |.*: (?:In function|At top level|In member))")


def read_messages(stderr: str, names: Mapping[str, str]) -> list[Diagnostic]:
    """gcc's (or clang's) messages as diagnostics that keep the compiler's own text, excerpt and notes included."""
    names = {as_printed(told): shown for told, shown in names.items()}
    head = _head_pattern(names)
    blocks: list[tuple[re.Match[str], int, int]] = []
    starts = [m for m in head.finditer(stderr) if m["kind"] != "note"]
    for i, match in enumerate(starts):
        blocks.append((match, match.start(), starts[i + 1].start() if i + 1 < len(starts) else len(stderr)))
    return [_diagnostic(match, _without_preface(stderr[start:end]), names) for match, start, end in blocks]


def _head_pattern(names: Mapping[str, str]) -> re.Pattern[str]:
    """`file:line:col: error: text`; the known names first, since a name may hold a colon or a newline."""
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) or r"\Z."
    kinds = "fatal error|error|warning|note"
    file = rf"(?P<file>{known}|(?!(?:{known}):)[^\s:][^\n:]*):(?P<line>\d+):(?:(?P<col>\d+):)? "
    return re.compile(rf"^(?:{file}|cc1: |gcc: |cc: |clang: )(?P<kind>{kinds}): (?P<text>.*)$", re.MULTILINE)


def _without_preface(block: str) -> str:
    """A block's last lines may belong to the next message (`In function 'main':`): leave them out."""
    lines = block.rstrip("\n").split("\n")
    while len(lines) > 1 and (_PREFACE.match(lines[-1]) or lines[-1].startswith("compilation terminated")):
        lines.pop()
    return "\n".join(lines)


def _diagnostic(match: re.Match[str], text: str, names: Mapping[str, str]) -> Diagnostic:
    severity: Severity = "warning" if match["kind"] == "warning" else "error"
    span = None
    if match["file"]:
        told = os.fsdecode(match["file"].encode("utf-8", "surrogateescape"))
        given = names.get(match["file"], told)
        col = int(match["col"] or 0)
        text = re.sub(f"^{re.escape(match['file'])}:", lambda _: f"{given}:", text, flags=re.MULTILINE)
        span = Span(given, int(match["line"]), col, col + 1 if col else 0)
    return Diagnostic(severity, "HD300", match["text"], span, text=text)
