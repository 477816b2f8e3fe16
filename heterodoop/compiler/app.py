"""Which C files make an app: a folder with map.c, or a map's file with its options. Reads no C."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import UsageError
from ..manifest import Role
from ..regular import read_regular
from ..toolchain import cc as toolchain
from ..toolchain import nvcc
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
    extra     further C files, linked into every filter.
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
        """From the command line's words; `std` "" = $CC's own.

        Raises UsageError HD001: no such file, no map.c, not a C file; HD005, HD006; ToolError HD502.
        """
        first = Path(source[0])
        folder = first.is_dir()
        programs: list[tuple[Role, Path]] = [("map", first / "map.c" if folder else first)]
        for role, given in (("combine", combine), ("reduce", reduce)):
            default = first / f"{role}.c"
            if given is not None:
                programs.append((role, Path(given)))  # type: ignore[arg-type]
            elif folder and default.exists():
                programs.append((role, default))  # type: ignore[arg-type]
        extra = tuple(Path(s) for s in source[1:])
        _check_files(first, folder, [p for _, p in programs], extra)
        options = CcOptions(tuple(include), tuple(define), tuple(library), std or toolchain.standard(), libm)
        home = first if folder else first.parent
        nvcc.check_architectures(arch)
        gpu = GpuOptions(optimisations.chosen(opt, no_opt), tuple(arch))
        return cls(home.resolve().name or "app", tuple(programs), extra, options, verify, gpu)


def _check_files(first: Path, folder: bool, programs: list[Path], extra: tuple[Path, ...]) -> None:
    if folder and not programs[0].exists():
        raise UsageError(f"{first} holds no map.c", code="HD001", help="name a folder with map.c, or the map's C file")
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
