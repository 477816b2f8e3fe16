"""Which files make an app: a folder with map.c or map.cc, or a map's file with its options. Reads no C."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..errors import UsageError
from ..manifest import Role
from ..regular import read_regular
from ..storage.shipped import shipped
from ..toolchain import cc as toolchain
from ..toolchain import commands, languages, nvcc
from ..toolchain.cc import CcOptions, Libm
from ..values import dataclass
from .decide import optimisations

MOST_BYTES = 64 << 20  # of a C file
_LOOKED_AT = 64 << 10
_SCRIPTS = frozenset({".py", ".pl", ".rb", ".sh", ".awk", ".R", ".js"})


@dataclass(frozen=True)
class GpuOptions:
    """How kernels are made.

    optimisations  names that are on (`optimisations.chosen`).
    arch           what to compile for: `sm_90`, `compute_80`, `none`; () = this machine's GPUs, else the common ones.
    """

    optimisations: tuple[str, ...] = optimisations.chosen()
    arch: tuple[str, ...] = ()


@dataclass(frozen=True)
class BuildOptions:
    """Everything a build depends on but the files' contents.

    name      of the app: the folder's, or the map file's folder's.
    programs  role -> its own C file, in the order map, combine, reduce.
    commands  role -> the words of the command that it is instead, in that order.
    carried   (name, path) of what the bundle carries for tasks' working folders.
    extra     further C and C++ files, linked into every filter.
    verify    check the IR after every pass.
    """

    name: str
    programs: tuple[tuple[Role, Path], ...]
    extra: tuple[Path, ...]
    cc: CcOptions
    verify: bool = False
    gpu: GpuOptions = GpuOptions()
    commands: tuple[tuple[Role, tuple[str, ...]], ...] = ()
    carried: tuple[tuple[str, Path], ...] = ()

    @classmethod
    def make(
        cls, source: Sequence[str], *, combine: str | None = None, reduce: str | None = None, include: Sequence[str] = (),
        define: Sequence[str] = (), library: Sequence[str] = (), std: str = "", verify: bool = False,
        opt: str = "default", no_opt: Sequence[str] = (), arch: Sequence[str] = (), libm: Libm = "own",
        map_command: str | None = None, combine_command: str | None = None, reduce_command: str | None = None,
        files: Sequence[str] = (),
    ) -> BuildOptions:
        """From the command line's words; `std` "" = $CC's own, one of C++ is of C++ files.

        source  may be empty where the map is a command; a command takes the place of a folder's file.
        Raises UsageError HD001: no such file, no map.c or two, not a C file; HD005, HD006; HD007, HD033: a command or file
        that cannot be; ToolError HD502.
        """
        first = Path(source[0]) if source else None
        folder = first is not None and first.is_dir()
        commanded, carried = _commands({"map": map_command, "combine": combine_command, "reduce": reduce_command}, files)
        given: dict[Role, str | None] = {"map": None if folder or not source else source[0]}
        given |= {"combine": combine, "reduce": reduce}
        programs = _programs(first if folder else None, given, [role for role, _ in commanded])
        if "map" not in [role for role, _ in (*programs, *commanded)]:
            raise UsageError(f"{first} holds no map.c", code="HD001",
                             help="name a folder with map.c or map.cc, the map's C or C++ file, or a --map-command")
        extra = tuple(Path(s) for s in source[1:])
        _check_files([p for _, p in programs], extra)
        cplusplus = std if "++" in std else ""
        standard = std if std and not cplusplus else toolchain.standard()
        options = CcOptions(tuple(include), tuple(define), tuple(library), standard, libm, cplusplus)
        home = first if first is not None and folder else first.parent if first is not None else Path()
        nvcc.check_architectures(arch)
        gpu = GpuOptions(optimisations.chosen(opt, no_opt), tuple(arch))
        return cls(home.resolve().name or "app", programs, extra, options, verify, gpu, commanded, carried)


def _commands(
    given: Mapping[Role, str | None], files: Sequence[str],
) -> tuple[tuple[tuple[Role, tuple[str, ...]], ...], tuple[tuple[str, Path], ...]]:
    """The commands by role, and what the bundle carries for them: `files`, and what the commands name."""
    carried = dict(shipped(files))
    for path in carried.values():
        if not path.is_file():
            raise UsageError(f"--file {path}: a bundle carries files, and this is none", code="HD033",
                             help="name the files of a folder, or pack them into one")
    made: list[tuple[Role, tuple[str, ...]]] = []
    for role, text in given.items():
        if text is not None:
            found = commands.parse(f"--{role}-command", text, carried)
            carried |= {name: Path(os.path.abspath(path)) for name, path in found.files}
            made.append((role, found.words))
    return tuple(made), tuple(carried.items())


def _programs(
    folder: Path | None, given: Mapping[Role, str | None], commanded: Sequence[Role],
) -> tuple[tuple[Role, Path], ...]:
    """The programs that are files: named, or the folder's."""
    made: list[tuple[Role, Path]] = []
    for role, name in given.items():
        if role in commanded and name is not None:
            raise UsageError(f"the {role} program is {name}, and --{role}-command gives another", code="HD007")
        path = Path(name) if name is not None else _program(folder, role) if folder and role not in commanded else None
        if path is not None:
            made.append((role, path))
    return tuple(made)


def _program(folder: Path, role: Role) -> Path | None:
    """The folder's file for a role; None: it has none, or is no folder. Raises UsageError HD001 where it has two."""
    found = languages.programs(folder, role)
    if len(found) > 1:
        names = " and ".join(path.name for path in found)
        raise UsageError(f"{folder} holds {names}, and a bundle has one program for each", code="HD001",
                         help="move one of them away, or name the files: heterodoop compile MAP --reduce REDUCE")
    return found[0] if found else None


def _check_files(programs: list[Path], extra: tuple[Path, ...]) -> None:
    for path in (*programs, *extra):
        if path.is_dir():
            raise UsageError(f"{path} is a folder, a C file is needed here", code="HD001")
        if not path.exists():
            raise UsageError(f"{path}: no such file", code="HD001")
        try:
            begin = read_regular(path, MOST_BYTES)[:_LOOKED_AT]
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}", code="HD001") from None
        if begin.startswith(b"#!") or path.suffix in _SCRIPTS:
            raise UsageError(f"{path} is a script, no C or C++", code="HD001",
                             help=f"it can be a program as a command: --map-command 'INTERPRETER {path.name}'")
        if b"\0" in begin:
            raise UsageError(f"{path} is no C file: it holds NUL bytes", code="HD001", help="name an app, or a bundle")
