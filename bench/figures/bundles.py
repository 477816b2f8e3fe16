"""The bundles to be measured, compiled where they are needed or ahead on a machine without a GPU (`prepare`).

Prepared ones are kept packed, for one architecture, with a hash of all that they were made from; one that no longer fits
is compiled again. Not here: what is measured with which.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heterodoop import manifest
from heterodoop.compiler.decide.optimisations import chosen, names
from heterodoop.executor.kernel import cuda

from .. import app_inputs
from ..device_task import CudaFiles
from .steps import WHOLE_SET

ROOT = Path(__file__).resolve().parents[2]
INDEX = "index.json"
DEVICE = "device"  # libhd_cuda and the runtime's kernels
WITHOUT = "paper-without-"
NATIVE_CC = "-march=native"
# Items that the host obeys, or the kernel by a flag: their text does not show them.
_UNSEEN = ("merge-sort", "scan-aggregation", "warp-combine")
_SUFFIXES = (".py", ".c", ".h", ".cu", ".cuh", ".cpp", ".j2")
_SOURCES = ("heterodoop/compiler", "heterodoop/manifest.py", "heterodoop/toolchain/cc.py",
            "heterodoop/toolchain/nvcc.py", "heterodoop/toolchain/objects.py", "heterodoop/toolchain/cuda_library.py",
            "runtime/cpu", "runtime/device", "runtime/math", "runtime/cuda", "runtime/host/device/device.h", "templates")


def variants(app: str) -> dict[str, tuple[str, ...]]:
    """Name -> options of `heterodoop compile`, for every bundle of an app.

    plain is the translation without any optimisation: the default set without its items is the paper's without its own.
    """
    whole = ("--opt", WHOLE_SET)
    found: dict[str, tuple[str, ...]] = {
        "default": (), "plain": tuple(f"--no-opt={item}" for item in chosen("default")), WHOLE_SET: whole,
    }
    if app_inputs.INPUTS[app].texture:
        found["texture"] = ("-D", "TEXTURE")
    return found | {f"{WITHOUT}{item}": (*whole, "--no-opt", item) for item in chosen(WHOLE_SET)}


def source_hash(app: str) -> str:
    """Of the app's sources and of everything that turns them into a bundle. "device": of what drives the GPU."""
    folders = [ROOT / name for name in (*_SOURCES, *([] if app == DEVICE else [f"apps/{app}"]))]
    digest = hashlib.sha256()
    for path in sorted(p for folder in folders for p in _files(folder)):
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    yield from (p for p in path.rglob("*") if p.suffix in _SUFFIXES and p.is_file())


@dataclass(frozen=True)
class Bundles:
    """Where bundles come from. `scratch` keeps what was unpacked or compiled, in a folder for each state of the sources;
    `arch`: "none" for the emulated device."""

    scratch: Path
    arch: str
    prepared: Path | None = None

    def get(self, app: str, variant: str) -> Path:
        """Raises CalledProcessError where it does not compile."""
        target = self._home(app) / f"{app}-{variant}.hdp"
        if not target.exists():
            self._unpack(app)
        if not target.exists():
            _compile(app, target, variants(app)[variant], self.arch)
        return target

    def native(self, app: str) -> Path:
        """The app with filters for this very processor, without kernels."""
        target = self._home(app) / f"{app}-native.hdp"
        if not target.exists():
            compiler = f"{os.environ.get('CC', 'gcc')} {NATIVE_CC}"
            _compile(app, target, (), "none", {"CC": compiler})
        return target

    def device(self) -> CudaFiles | None:
        """What was prepared to drive the GPU; None where nothing fits."""
        home = self._home(DEVICE) / DEVICE
        if not home.exists():
            self._unpack(DEVICE)
        return CudaFiles(home / "libhd_cuda.so", home / "kernels.cubin") if home.exists() else None

    def _home(self, app: str) -> Path:
        folder = self.scratch / f"{app}-{self.arch}-{source_hash(app)[:16]}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _unpack(self, app: str) -> None:
        """All that was prepared for an app, where it still fits."""
        index = read_index(self.prepared)
        packed = self.prepared / f"{app}.tar.xz" if self.prepared else None
        fits = index.get("arch") == self.arch and index.get("hashes", {}).get(app) == source_hash(app)
        if packed is None or not fits or not packed.exists():
            return
        home = self._home(app)
        with tempfile.TemporaryDirectory(dir=home) as partial, tarfile.open(packed) as archive:
            archive.extraction_filter = getattr(tarfile, "tar_filter", None)  # Python 3.11.2 has none
            archive.extractall(partial)
            for made in Path(partial).iterdir():
                if not (home / made.name).exists():
                    made.rename(home / made.name)


def read_index(prepared: Path | None) -> dict[str, Any]:
    """What `prepare` says of its folder: arch, commit, hashes by app; {} where there is nothing."""
    try:
        return dict(json.loads((prepared / INDEX).read_text())) if prepared else {}
    except (OSError, ValueError):
        return {}


def _compile(app: str, target: Path, options: Sequence[str], arch: str, extra: dict[str, str] | None = None) -> None:
    command = [sys.executable, "-m", "heterodoop", "compile", str(ROOT / "apps" / app), "-o", str(target)]
    environment = {**os.environ, **(extra or {})}
    done = subprocess.run([*command, "--arch", arch, *options], cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")


def prepare(folder: Path, apps: Sequence[str], arch: str, commit: str, jobs: int) -> int:
    """Compile and pack all bundles of the apps, and what drives the GPU, into `folder`; how many bytes they take."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / INDEX).unlink(missing_ok=True)
    work = [(app, variant) for app in apps for variant in variants(app)]
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(jobs) as pool:
        made = Bundles(Path(scratch), arch)
        built = list(pool.map(lambda item: made.get(*item), work))
        for app in apps:
            _pack([bundle for (of, _), bundle in zip(work, built, strict=True) if of == app], folder / f"{app}.tar.xz")
        library, kernels = cuda.device_library([arch])
        home = Path(scratch) / DEVICE
        home.mkdir()
        (home / "libhd_cuda.so").write_bytes(library.read_bytes())
        (home / "kernels.cubin").write_bytes(kernels[arch].read_bytes())
        _pack([home], folder / f"{DEVICE}.tar.xz")
    index = {"arch": arch, "commit": commit, "hashes": {app: source_hash(app) for app in [*apps, DEVICE]}}
    (folder / INDEX).write_text(json.dumps(index, indent=1) + "\n")
    return sum(path.stat().st_size for path in folder.iterdir())


def _pack(trees: Sequence[Path], target: Path) -> None:
    """An app's bundles have most files in common, and a large window of the compression finds them."""
    with tarfile.open(target, "w:xz", preset=9) as archive:
        for tree in trees:
            archive.add(tree, tree.name)


def same_kernels(one: Path, other: Path, item: str) -> bool:
    """Does an item change nothing in an app? `one` has it, `other` has not, and their kernels' texts are equal, but for what
    they say of themselves; and the item is none that shows elsewhere."""
    obeyed = {name for kernel in _kernels(one) for name in names(kernel.plan)}
    return not (item in _UNSEEN and item in obeyed) and _texts(one) == _texts(other)


def _kernels(bundle: Path) -> list[manifest.Kernel]:
    return [program.kernel for program in manifest.load(bundle).programs if program.kernel]


def _texts(bundle: Path) -> list[list[str]]:
    texts = [(bundle / kernel.source).read_text().splitlines() for kernel in _kernels(bundle)]
    return [[line for line in text if not line.lstrip().startswith("//")] for text in texts]
