"""Running the command line in tests: as a process of its own, or (much cheaper) inside the test's process.

Also a store of compiled apps that all workers of a test run share. Not a test module.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from heterodoop import cli
from heterodoop.manifest import FILE, load, sha256
from heterodoop.toolchain import cache as build_cache

ROOT = Path(__file__).resolve().parent.parent
COMMAND = [sys.executable, "-m", "heterodoop"]


@dataclass(frozen=True)
class Done:
    """How a command ended: its exit status and what it printed, as bytes and as text."""

    status: int
    out: bytes
    err: bytes

    @property
    def message(self) -> str:
        return self.err.decode("utf-8", "surrogateescape")


def cli_process(
    *arguments: object, env: Mapping[str, str] | None = None, cwd: Path | None = None, timeout: float = 60,
) -> Done:
    """`heterodoop ARGUMENTS` as a process; `env` is added to the caller's environment."""
    argv = [*COMMAND, *map(str, arguments)]
    done = subprocess.run(argv, capture_output=True, check=False, env=environment(env), cwd=cwd, timeout=timeout)
    return Done(done.returncode, done.stdout, done.stderr)


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The caller's environment with this checkout's package on the path, whatever the working folder."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **(extra or {})}


def cli_here(*arguments: object, status: int | None = 0) -> Done:
    """`heterodoop ARGUMENTS` in this process, through its real entry point. `status`: what must come out; None = any."""
    out, err = io.BytesIO(), io.BytesIO()
    with _standard_files(out, err), _arguments([str(a) for a in arguments]), _signal_handlers():
        try:
            cli.main()
            code: object = 0
        except SystemExit as end:
            code = end.code
    done = Done(code if isinstance(code, int) else 1, out.getvalue(), err.getvalue())
    assert status is None or done.status == status, f"exit status {done.status}\n{done.message}"
    return done


@contextlib.contextmanager
def _standard_files(out: io.BytesIO, err: io.BytesIO) -> Iterator[None]:
    texts = [io.TextIOWrapper(raw, "utf-8", "surrogateescape", write_through=True) for raw in (out, err)]
    with contextlib.redirect_stdout(texts[0]), contextlib.redirect_stderr(texts[1]):
        try:
            yield
        finally:
            for text in texts:
                text.detach()


@contextlib.contextmanager
def _arguments(arguments: list[str]) -> Iterator[None]:
    old = sys.argv
    sys.argv = ["heterodoop", *arguments]
    try:
        yield
    finally:
        sys.argv = old


@contextlib.contextmanager
def _signal_handlers() -> Iterator[None]:
    """The entry point takes over signals, which in a process of its own does not matter to anybody else."""
    old = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


class Bundles:
    """Compiled apps by the text of their programs: each is compiled once, by whichever worker of a run comes first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def get(self, map: str, combine: str = "", reduce: str = "", *, options: tuple[str, ...] = ()) -> Path:
        """The bundle. `options`: of `heterodoop compile`."""
        programs = {"map": map, "combine": combine, "reduce": reduce}
        key = build_cache.key([repr((programs, options))])[:16]
        return self._made(key, lambda: write_app(self.folder / key, programs), options)

    def app(self, folder: Path, *options: str) -> Path:
        """The bundle of an app that is there as a folder."""
        key = build_cache.key([str(folder), repr(options), *build_cache.tree(folder, (".c", ".h"))])[:16]
        return self._made(f"{folder.name}-{key}", lambda: folder, options)

    def _made(self, name: str, source: Callable[[], Path], options: tuple[str, ...]) -> Path:
        bundle = self.folder / f"{name}.hdp"
        with open(self.folder / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not bundle.exists():
                cli_here("compile", source(), "-o", bundle, "--verify", *options)
        return bundle


def write_app(folder: Path, programs: Mapping[str, str]) -> Path:
    """A folder with the C files of an app; a role with empty text has no file."""
    folder.mkdir(parents=True, exist_ok=True)
    for role, text in programs.items():
        if text:
            (folder / f"{role}.c").write_text(text)
    return folder


def parts(output: Path) -> list[bytes]:
    """The contents of the part files, in order."""
    return [path.read_bytes() for path in sorted(output.glob("part-*"))]


def partition(key: bytes, reducers: int) -> int:
    """Hadoop's HashPartitioner over the bytes of a Text key."""
    h = 1
    for byte in key:
        h = (31 * h + (byte if byte < 128 else byte - 256)) & 0xFFFFFFFF
    return (h & 0x7FFFFFFF) % reducers


def alive(pid: int) -> bool:
    """Whether the process runs; one that ended and was not yet waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def gone(pid: int, seconds: float = 5.0) -> bool:
    """Whether it has ended within so many seconds."""
    end = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.01)
    return not alive(pid)


def changed_kernel(bundle: Path, made: Path, change: Callable[[str], str]) -> Path:
    """A copy of a bundle whose map kernel has another text."""
    shutil.copytree(bundle, made)
    kernel = made / "cuda" / "map.cu"
    text = kernel.read_text()
    assert change(text) != text
    kernel.write_text(change(text))
    data = json.loads((made / FILE).read_text())
    for item in data["binaries"]:
        item["sha256"] = sha256(made / item["path"])
    (made / FILE).write_text(json.dumps(data))
    assert load(made)
    return made
