"""A lane's folder: everything that its runs read, write and leave behind, and how it looks when nothing is left behind."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import page

_FIXED = ("in", "bundles", "home", "tmp", "cache", "cache/heterodoop", "run", "log", "disk")
DISK_BYTES = 512 << 10


@dataclass(frozen=True)
class Room:
    """Absolute paths. `pattern`: bundles and cache as they were made, never touched by a run."""

    root: Path
    pattern: Path

    @property
    def output(self) -> Path:
        return self.root / "out"

    @property
    def text(self) -> Path:
        return self.root / "in" / "text"

    @property
    def disk(self) -> Path:
        """Where a small file system of its own is mounted, if the machine lets us."""
        return self.root / "disk"

    @property
    def page(self) -> Path:
        return self.root / "log" / "page"

    def bundle(self, made: Path) -> Path:
        return self.root / "bundles" / made.name

    def environment(self, shim: Path) -> dict[str, str]:
        """Of a run: nothing of the caller's but where programs lie, so that it writes nowhere else."""
        keep = ("PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME", "CC", "CXX", "HETERODOOP_ARCH", "PYTHONPATH")
        folders = {"HOME": "home", "TMPDIR": "tmp", "XDG_CACHE_HOME": "cache", "XDG_RUNTIME_DIR": "run"}
        return {
            **{name: os.environ[name] for name in keep if name in os.environ},
            **{name: str(self.root / folder) for name, folder in folders.items()},
            "LC_ALL": "C.UTF-8", "LD_PRELOAD": str(shim), page.VARIABLE: str(self.page),
            "HADOOP_HOME": "", "HADOOP_CONF_DIR": "",
            "CUDA_CACHE_PATH": str(self.root / "log" / "nv"),  # the CUDA driver's own
        }

    def furnish(self, text: bytes) -> None:
        """Make the folder as it is before every case."""
        for name in _FIXED:
            (self.root / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        self.text.write_bytes(text)
        self.restore()

    def restore(self) -> None:
        """Bundles and cache as they were made, where a case has changed them."""
        for name in ("bundles", "cache"):
            _restore(self.pattern / name, self.root / name)

    def clear_output(self) -> None:
        for base in (self.output, self.disk / "out"):
            for path in (base, base.with_name("out.report"), base.with_name("out.rounds")):
                if path.is_symlink() or not path.is_dir():
                    path.unlink(missing_ok=True)
                else:
                    shutil.rmtree(path)

    def left(self) -> list[str]:
        """What lies here that a finished run should have removed: paths below the root, without output and report.

        The cache may have got new entries; half-made ones have a name that begins with a dot.
        """
        found = []
        for folder, folders, files in os.walk(self.root):
            here = Path(folder).relative_to(self.root)
            found += [str(here / name) for name in (*folders, *files) if not self._expected(here / name)]
            folders[:] = [name for name in folders if self._expected(here / name)]
        return sorted(found)

    def _expected(self, path: Path) -> bool:
        first, *rest = path.parts
        if first in ("log", "bundles", "d", "w"):
            return True
        if first == "cache":
            return not any(part.startswith(".") for part in rest)
        if first == "disk" and rest:
            return False
        return str(path) in _FIXED or path.parts == ("in", "text")

    def mount(self) -> bool:
        """Mount a small file system at `disk`; whether that worked (it takes root)."""
        size = f"size={DISK_BYTES},mode=0700"
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", size, "soak", str(self.disk)], capture_output=True, check=False)
        return done.returncode == 0

    def unmount(self) -> None:
        if os.path.ismount(self.disk):
            subprocess.run(["umount", "-l", str(self.disk)], check=True, capture_output=True)


def _restore(source: Path, target: Path) -> None:
    wanted = {path.relative_to(source): path for path in source.rglob("*") if path.is_file()}
    for path in sorted(target.rglob("*"), reverse=True):
        if path.relative_to(target) not in wanted and (path.is_symlink() or not path.is_dir()):
            path.unlink()
    for name, path in wanted.items():
        there = target / name
        if not _same(path, there):
            if there.is_dir() and not there.is_symlink():
                shutil.rmtree(there)
            there.unlink(missing_ok=True)
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, there)


def _same(one: Path, other: Path) -> bool:
    if other.is_symlink() or not other.is_file() or other.stat().st_mode != one.stat().st_mode:
        return False
    return other.read_bytes() == one.read_bytes()
