"""nvcc: finding it, compiling kernels for several architectures at once, reading what it says.

Looked for: $CUDA_HOME (or $CUDA_PATH), PATH, the `nvidia` packages of this Python (pip install 'heterodoop[nvcc]'),
/usr/local/cuda. Compiling needs no GPU. Results are kept in `toolchain.cache`. Not here: the kernels' text (`compiler`),
loading them (the executor).
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from .. import resources
from ..errors import ToolError, UsageError
from ..manifest import Cubin, sha256
from ..together import Threads
from ..values import dataclass
from . import cache as build_cache
from . import cc

MIN_VERSION = (12, 0)  # C++17 in device code, sm_90
DEFAULT_ARCHITECTURES = ("sm_80", "sm_86", "sm_89", "sm_90")
NONE = "none"
FLAGS = ("-std=c++17", "-Xptxas", "-v", "-fmad=false")  # a * b + c in two roundings, as the CPU filter computes it
_ENVIRONMENT = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN")
# Words under which a kernel computes other numbers than the CPU's filter.
_OTHER_NUMBERS = re.compile(r"(?<!\S)--?(?:use_fast_math|fmad|ftz|prec-div|prec-sqrt)\b\S*")
_SUFFIXES = (".h", ".cuh", ".hpp")
_UNKNOWN = re.compile(r"Unsupported gpu architecture.*|.*is not defined for option 'gpu-architecture'")
_ARCHITECTURE = re.compile(r"(sm|compute)_(\d+)[af]?\Z")


@dataclass(frozen=True)
class Nvcc:
    """A CUDA compiler and its version, as in (13, 0)."""

    path: str
    version: tuple[int, int]


@dataclass(frozen=True)
class KernelFile:
    """A kernel file to compile: `stem` is the name of what comes out, `entry` the kernel whose registers are reported."""

    source: Path
    stem: str
    entry: str


def find_nvcc(environ: Mapping[str, str] = os.environ, packages: Sequence[str] = tuple(sys.path)) -> Nvcc | None:
    """The first nvcc there is, None where there is none. Raises ToolError HD514 for a chosen or old one that is no use.

    packages  folders that Python modules are imported from.
    """
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if environ.get(name):
            path = os.path.join(environ[name], "bin", "nvcc")
            if not os.access(path, os.X_OK):
                raise ToolError(f"{name} is {environ[name]}, but there is no {path}", code="HD514", help=f"correct {name}")
            return _checked(path)
    found = shutil.which("nvcc", path=environ.get("PATH", os.defpath))
    if found is None:
        wheels = (p for folder in packages for p in sorted(Path(folder or ".").glob("nvidia/*/bin/nvcc"), reverse=True))
        places = (*wheels, Path("/usr/local/cuda/bin/nvcc"))
        found = next((str(p) for p in places if os.access(p, os.X_OK)), None)
    return _checked(found) if found is not None else None


def _checked(path: str) -> Nvcc:
    output = cc.run([path, "--version"], timeout=60)
    match = re.search(r"release (\d+)\.(\d+)", output.stdout)
    if output.returncode or match is None:
        said = (output.stderr or output.stdout).strip()[-400:]
        raise ToolError(f"{path} --version does not name a release: {said}", code="HD514")
    version = int(match[1]), int(match[2])
    if version < MIN_VERSION:
        wanted = ".".join(map(str, MIN_VERSION))
        raise ToolError(f"{path} is of CUDA {version[0]}.{version[1]}, {wanted} or newer is needed", code="HD514")
    return Nvcc(path, version)


def environment(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """What nvcc and the C++ compiler below it take from the environment, whatever they compile."""
    return (*(environ.get(name, "") for name in _ENVIRONMENT), *cc.environment(environ))


def check_environment(environ: Mapping[str, str] = os.environ) -> None:
    """Raises ToolError HD514 where nvcc is told in the environment to compute other numbers."""
    for name in _ENVIRONMENT[:2]:
        if found := _OTHER_NUMBERS.search(environ.get(name, "")):
            text = f"{name} holds {found[0]}, with which kernels compute other numbers than filters"
            raise ToolError(text, code="HD514", help="take it out")


def architectures(given: Sequence[str]) -> tuple[str, ...]:
    """The architectures to compile for: as given; else those of this machine's GPUs; else the common ones and PTX.

    () for the word `none`. Raises as `check_architectures`.
    """
    words = check_architectures(given)
    if words == (NONE,):
        return ()
    return words or of_this_machine() or (*DEFAULT_ARCHITECTURES, DEFAULT_ARCHITECTURES[0].replace("sm_", "compute_"))


def check_architectures(given: Sequence[str]) -> tuple[str, ...]:
    """The words of the options, each once. Raises UsageError HD006 for one that names no architecture."""
    words = tuple(dict.fromkeys(word for item in given for word in item.replace(",", " ").split()))
    for word in words if words != (NONE,) else ():
        if not _ARCHITECTURE.match(word):
            raise UsageError(
                f"'{word}' is no GPU architecture", code="HD006", help="write sm_90, compute_80 (PTX) and so on, or none",
            )
    return words


def of_this_machine() -> tuple[str, ...]:
    """The architectures of this machine's GPUs, each once; () where nvidia-smi names none."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ()
    try:
        output = cc.run([tool, "--query-gpu=compute_cap", "--format=csv,noheader"], timeout=20)
    except ToolError:
        return ()
    found = re.findall(r"^(\d+)\.(\d)\s*$", output.stdout, re.MULTILINE) if output.returncode == 0 else []
    return tuple(sorted({f"sm_{major}{minor}" for major, minor in found}))


def build(
    nvcc: Nvcc, texts: Sequence[KernelFile], folder: Path, archs: Sequence[str], *, cache: Path | None = None,
) -> dict[str, tuple[Cubin, ...]]:
    """Compile every text for every architecture, in parallel, into `folder`; stem -> its cubins, in the order of `archs`.

    Paths in the result are relative to the folder above `folder`. Raises ToolError HD515 with nvcc's messages, placed in
    the user's C by the text's #line directives; HD503 where it does not end; HD514 as `check_environment`; HD516 without a
    cache folder; UsageError HD006 for an architecture that nvcc does not know; OSError.
    """
    check_environment()
    folder.mkdir(parents=True, exist_ok=True)
    folders = (resources.find("runtime", name) for name in ("device", "math"))
    headers = [word for folder in folders for word in build_cache.tree(folder, _SUFFIXES)]
    common = [*FLAGS, build_cache.identity(nvcc.path), *environment(), *headers]
    maker = _Maker(nvcc, FLAGS, common, cache or build_cache.folder(), _common_ptx(archs))
    jobs = [(text, arch) for text in texts for arch in archs]
    with Threads() as work:
        for made in [work.begin(maker.made, text, maker.base) for text in texts if maker.base]:
            made.result()
        cubins = [work.begin(maker.cubin, text, arch, folder) for text, arch in jobs]
        done = [cubin.result() for cubin in cubins]
    return {text.stem: tuple(c for (t, _), c in zip(jobs, done, strict=True) if t is text) for text in texts}


def _common_ptx(archs: Sequence[str]) -> str:
    """The PTX that several architectures' code is made from: the lowest one's; "" where the text is compiled once only.

    Reading C++ takes nvcc four times as long as making code of PTX. No kernel asks which architecture it is for.
    """
    real = [arch for arch in archs if arch.startswith("sm_")]
    return min(real, key=capability).replace("sm_", "compute_") if len(real) > 1 else ""


def capability(arch: str) -> tuple[int, int]:
    """(9, 0) of sm_90, compute_90 or sm_90a."""
    digits = re.sub(r"\D", "", arch)
    return int(digits[:-1] or 0), int(digits[-1] or 0)


@dataclass(frozen=True)
class _Maker:
    """Compiles texts into the cache. `common`: what goes into every key; `base`: see _common_ptx."""

    nvcc: Nvcc
    flags: Sequence[str]
    common: list[str | bytes]
    cache: Path
    base: str

    def cubin(self, text: KernelFile, arch: str, folder: Path) -> Cubin:
        """The result for one architecture, copied into the bundle's folder."""
        kept = self.made(text, arch)
        out = folder / f"{text.stem}.{arch}{kept.suffix}"
        shutil.copyfile(kept, out)
        said = kept.with_suffix(".log").read_text(encoding="utf-8", errors="replace")
        return Cubin(arch, f"{folder.name}/{out.name}", sha256(out), *usage(said, text.entry))

    def made(self, text: KernelFile, arch: str) -> Path:
        """The result in the cache, nvcc's report beside it."""
        data = text.source.read_bytes()
        suffix = "ptx" if arch.startswith("compute_") else "cubin"
        from_ptx = self.base != "" and suffix == "cubin"
        key = build_cache.key([*self.common, self.base if from_ptx else "", arch, build_cache.placeless(data)])
        kept = self.cache / "cuda" / f"{key}.{suffix}"
        log = kept.with_suffix(".log")
        if not log.is_file():
            kept.unlink(missing_ok=True)  # made by a process that was stopped between the two

        def make(partial_path: Path) -> None:
            copy = partial_path.with_name(text.source.name)
            if from_ptx:
                copy = copy.with_suffix(".ptx")
                shutil.copyfile(self.made(text, self.base), copy)
            else:
                copy.write_bytes(data)
            said = _compile(self.nvcc, [*self.flags, f"-{suffix}", f"-arch={arch}"], copy, partial_path, text.source)
            build_cache.get(log, lambda path: _write(path, said))

        return build_cache.get(kept, make)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="surrogateescape")


def _compile(nvcc: Nvcc, flags: list[str], copy: Path, out: Path, source: Path) -> str:
    """Run nvcc; what it printed."""
    include = ["-I", str(resources.find("runtime", "device")), "-I", str(source.resolve().parent)]
    words = [nvcc.path, *flags, *include, "-o", str(out), str(copy)]
    result = cc.run(words, timeout=cc.patience())
    if result.returncode:
        said = result.stderr.strip() or result.stdout.strip() or cc.ended(result.returncode)
        _check_known(said)
        shown = said.replace(str(copy), source.name)[:8000]
        help = "--arch none makes the bundle without compiled kernels"
        raise ToolError(f"nvcc cannot compile the kernels of {source.name}:\n{shown}", code="HD515", help=help)
    return result.stderr


def _check_known(said: str) -> None:
    """Raises UsageError HD006 where nvcc complains of the architecture, not of the text."""
    unknown = _UNKNOWN.search(said)
    if unknown:
        raise UsageError(f"nvcc says: {unknown[0].strip()}", code="HD006", help="nvcc --list-gpu-arch names those it knows")


def usage(said: str, entry: str) -> tuple[int, int]:
    """(registers, bytes spilled) of a kernel in ptxas' report; zeros where it says nothing (PTX)."""
    name = re.escape(entry)
    registers = re.search(rf"Compiling entry function '{name}'.*?Used (\d+) registers", said, re.DOTALL)
    spilled = re.search(
        rf"Function properties for {name}\n.*?(\d+) bytes spill stores, (\d+) bytes spill loads", said, re.DOTALL,
    )
    return int(registers[1]) if registers else 0, int(spilled[1]) + int(spilled[2]) if spilled else 0
