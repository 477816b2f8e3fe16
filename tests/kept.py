"""What compilers make for tests, kept between runs: below .pytest_cache/heterodoop, under a hash of all that went into it.

Bundles lie under a hash of the compiler, what it compiles with, and its settings; kernel modules and test programs under one
of their own text (`toolchain.cache`). A run removes what has not been used for long. Removing the folder is always safe, and
`make clean` does. Where others may write to the checkout, modules are built anew: libraries are loaded from here.
Not a test module.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from heterodoop.private import why_unsafe
from heterodoop.toolchain import cache as build_cache
from heterodoop.toolchain import nvcc as toolchain_nvcc

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".pytest_cache" / "heterodoop"
BUNDLES = "bundles-"
KEPT_BUNDLES = 3  # compilers: the one of now, and those of before a change or two
KEPT_SECONDS = 7 * 24 * 3600.0
# A bundle is made by no module of these (tests/test_layers.py), and by nothing of the CPU's runtime.
_ABOVE = ("executor", "scheduler", "engine", "driver", "hadoop")
_RUNTIME = ("device", "hostlane", "emu", "cpu", "math", "headers", "probe")
_TEXTS = (".py", ".h", ".cuh", ".cu", ".c", ".j2", ".txt")
_HEADERS = (".h", ".cuh", ".cu")
_COMPILERS = ("cc", "gcc", "g++", "as", "ld")
_SETTINGS = ("CC", "CFLAGS", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH",
             "GCC_EXEC_PREFIX", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "SOURCE_DATE_EPOCH",
             "HETERODOOP_ARCH", "HETERODOOP_STRICT")

# gold links in half of the time, where it is installed (Debian 12 has it in binutils).
# Installations that tests make compile the native runtime, each in a folder of its own: an object is copied where one of the
# same text, the same sources beside it and the same options is there; its own folders are no option.
QUICK = r"""#!/bin/sh
target= source= last= words=
for word do
  case "$last" in
    -o) target=$word ;;
    -c) source=$word ;;
    *) words="$words $word" ;;
  esac
  last=$word
done
root=${source%runtime/host/*}runtime/host
if [ -z "$target" ] || [ ! -f "$source" ] || [ "${source%runtime/host/*}" = "$source" ]; then
  command -v ld.gold > /dev/null && exec g++ -fuse-ld=gold "$@" -O0
  exec g++ "$@" -O0
fi
digest=$({ g++ --version; printf '%s\n' "$words ${source#"$root"}" | sed "s|$root|HOST|g; s|${target%/*}|OUT|g"
  cd "$root" && find . -type f | LC_ALL=C sort | xargs cat; } | sha256sum | cut -c 1-32)
kept=OBJECTS/$digest.o
exec 9>> "$kept.lock" && flock 9  # what another installation is compiling is waited for
if [ ! -f "$kept" ]; then
  g++ "$@" -O0 || exit
  cp "$target" "$kept.$$" && mv "$kept.$$" "$kept"
else
  cp "$kept" "$target"
fi
"""


def bundles() -> Path:
    """The folder of bundles that the compiler of this checkout, as it is now, has made."""
    return _folder(FOLDER / f"{BUNDLES}{_compiler_key()}")


def usable_cache() -> Path | None:
    """A value of XDG_CACHE_HOME, for modules of the emulated device; None: they may not be loaded from the checkout."""
    folder = _folder(FOLDER / "cache")
    return None if why_unsafe(folder) else folder


def quick_compiler() -> str:
    """A value of CXX: a C++ compiler that does not optimise, for what runs only a few times; QUICK."""
    path, objects = _folder(FOLDER) / "quick-g++", _folder(FOLDER / "programs" / "objects")
    text = QUICK.replace("OBJECTS", shlex.quote(str(objects)))
    if not path.is_file() or path.read_text() != text:
        partial = path.with_name(f"{path.name}.{os.getpid()}")
        partial.write_text(text)
        partial.chmod(0o755)
        partial.replace(path)
    return shlex.quote(str(path))


def program(argv: Sequence[str | Path], *, text: str = "", folders: Iterable[Path] = (), name: str = "program") -> Path:
    """What `argv -o FILE` makes of the files that it names, and of `text` as its input.

    folders  where the headers are that they include: another text in one is another program. The caller's LD_PRELOAD (a
             sanitizer's library) is not for compilers.
    """
    words = [str(word) for word in argv]
    named = [Path(word).read_bytes() for word in words if os.path.isabs(word) and Path(word).is_file()]
    headers = [part for folder in folders for part in build_cache.tree(folder, _HEADERS)]
    key = build_cache.key([*words, build_cache.identity(words[0]), text, *named, *headers])
    variables = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}

    def build(partial: Path) -> None:
        subprocess.run([*words, "-o", str(partial)], input=text.encode(), check=True, env=variables)

    folder = _folder(FOLDER / "programs" / key)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # what another worker is building is waited for
        return build_cache.get(folder / name, build)


def sweep(now: float | None = None) -> None:
    """Remove bundles of compilers of long ago, and other things that nobody has used for a week."""
    stores = sorted(FOLDER.glob(f"{BUNDLES}*"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in stores[KEPT_BUNDLES:]:
        shutil.rmtree(old, ignore_errors=True)
    limit = (time.time() if now is None else now) - KEPT_SECONDS
    for top in ("cache", "programs"):
        for path in (FOLDER / top).rglob("*"):
            with suppress(OSError):
                found = path.lstat()
                if path.is_file() and max(found.st_atime, found.st_mtime) < limit:
                    path.unlink()


@cache
def _compiler_key() -> str:
    package = ROOT / "heterodoop"
    parts: list[str | bytes] = [sys.version, str(ROOT), *(build_cache.identity(tool) for tool in _COMPILERS)]
    nvcc = toolchain_nvcc.find_nvcc()
    parts.append(build_cache.identity(nvcc.path) if nvcc else "")
    parts += [f"{name}={os.environ.get(name, '')}" for name in _SETTINGS]
    own = [path for path in sorted(package.iterdir()) if path.is_dir() and path.name not in _ABOVE]
    parts += [part for path in sorted(package.glob("*.py")) for part in (path.name, path.read_bytes())]
    trees = [*own, ROOT / "templates", *(ROOT / "runtime" / name for name in _RUNTIME)]
    parts += [part for tree in trees for part in (tree.name, *build_cache.tree(tree, _TEXTS))]
    return build_cache.key(parts)[:16]


def _folder(path: Path) -> Path:
    path.mkdir(mode=0o755, parents=True, exist_ok=True)
    if path.name.startswith(BUNDLES):
        os.utime(path)
    return path
