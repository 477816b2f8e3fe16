"""Which files make an app: a folder with map.c or map.cc, or a map's file with its options. Reads no C."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import UsageError
from ..manifest import Role
from ..regular import read_regular
from ..toolchain import cc as toolchain
from ..toolchain import languages, nvcc
from ..toolchain.cc import CcOptions, Libm
from ..values import dataclass
from .decide import optimisations

MOST_BYTES = 64 << 20  # of a C file
_LOOKED_AT = 64 << 10


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
    extra     further C and C++ files, linked into every filter.
    verify    check the IR after every pass.
    """

    name: str
    programs: tuple[tuple[Role, Path], ...]
    extra: tuple[Path, ...]
    cc: CcOptions
    verify: bool = False
    gpu: GpuOptions = GpuOptions()

    @classmethod
    def make(
        cls, source: Sequence[str], *, combine: str | None = None, reduce: str | None = None, include: Sequence[str] = (),
        define: Sequence[str] = (), library: Sequence[str] = (), std: str = "", verify: bool = False,
        opt: str = "default", no_opt: Sequence[str] = (), arch: Sequence[str] = (), libm: Libm = "own",
    ) -> BuildOptions:
        """From the command line's words; `std` "" = $CC's own, one of C++ is of C++ files.

        Raises UsageError HD001: no such file, no map.c or two, not a C file; HD005, HD006; ToolError HD502.
        """
        first = Path(source[0])
        folder = first.is_dir()
        wanted: list[tuple[Role, str | None]] = [("map", None if folder else source[0])]
        wanted += [("combine", combine), ("reduce", reduce)]
        found = [(role, Path(given) if given is not None else _program(first, role)) for role, given in wanted]
        programs = [(role, path) for role, path in found if path is not None]
        extra = tuple(Path(s) for s in source[1:])
        if not programs or programs[0][0] != "map":
            raise UsageError(f"{first} holds no map.c", code="HD001",
                             help="name a folder with map.c or map.cc, or the map's C or C++ file")
        _check_files([p for _, p in programs], extra)
        cplusplus = std if "++" in std else ""
        standard = std if std and not cplusplus else toolchain.standard()
        options = CcOptions(tuple(include), tuple(define), tuple(library), standard, libm, cplusplus)
        home = first if folder else first.parent
        nvcc.check_architectures(arch)
        gpu = GpuOptions(optimisations.chosen(opt, no_opt), tuple(arch))
        return cls(home.resolve().name or "app", tuple(programs), extra, options, verify, gpu)


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
        if b"\0" in begin:
            raise UsageError(f"{path} is no C file: it holds NUL bytes", code="HD001", help="name an app, or a bundle")
