"""Who has how much of a GPU's memory: drivers of several users on one node share it by hundredths, and none takes more.

A driver writes a file for each of its GPUs into a folder that all drivers of the node know, and holds a lock on it while it
lives; the kernel lets go of the lock where the driver is killed. A hundredth is given out once: who asks for what others
hold is refused, by name. The folder itself is locked meanwhile. (Decision 0058: no broker, no root.)

The file of another user can be read, not changed. It is an agreement, no defence: who may open a GPU can take all of its
memory without a driver. Not here: how a share is kept (executor/kernel/native_device.py, `limit`).
"""

from __future__ import annotations

import fcntl
import itertools
import os
import re
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from ...daemon.lock import Lock, Owner, owner_of
from ...errors import ToolError, UsageError
from ...executor.gpu.gpus import Gpu

WHOLE = 100
ASK_SECONDS = 10.0  # for the folder's lock, which others hold for a moment
CONTEXT_BYTES = 1 << 30  # of a share: the context, kernels, threads' stacks
_TICK_SECONDS = 0.02
_numbers = itertools.count(time.monotonic_ns())  # so that a process that gets our number has other names


class Holder(NamedTuple):
    """A driver's part of a GPU's memory. share: hundredths."""

    uid: int
    owner: Owner
    share: int

    def __str__(self) -> str:
        return f"{self.share} % by process {self.owner.pid} of user {self.uid}"


def folder_of(environ: Mapping[str, str] = os.environ) -> Path:
    """$HETERODOOP_GPU_SHARES, else /run/heterodoop-gpus if it is there, else the same in /tmp."""
    if chosen := environ.get("HETERODOOP_GPU_SHARES", ""):
        return Path(os.path.abspath(chosen))
    run = Path("/run/heterodoop-gpus")
    return run if run.is_dir() else Path("/tmp/heterodoop-gpus")


def key_of(gpu: Gpu, environ: Mapping[str, str] = os.environ) -> str:
    """What all processes call this GPU: its UUID; a part of one (MIG) by its own; else its number."""
    part = environ.get("CUDA_VISIBLE_DEVICES", "")
    chosen = part if part.startswith("MIG-") else gpu.uuid or f"{gpu.name}-{gpu.number}"
    return re.sub(r"[^A-Za-z0-9-]", "-", chosen)


def limit_of(memory: int, share: int) -> int:
    """Bytes that tasks may take of a GPU with so much memory; 0: no limit, nobody else has any of it."""
    if share >= WHOLE:
        return 0
    part = memory * share // WHOLE
    return max(part - CONTEXT_BYTES, part // 2)


class Shares:
    """The folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def holders(self, key: str) -> list[Holder]:
        """Who holds a part of the GPU now."""
        found = []
        with suppress(OSError):
            for path in sorted(self._folder.glob(f"{key}.*")):
                if holder := _holder(path):
                    found.append(holder)
        return found

    @contextmanager
    def held(self, gpus: Sequence[tuple[str, str]], wish: int) -> Iterator[int]:
        """Hold a part of each GPU (key, and name for a message), in hundredths; `wish` 0: what nobody has of any of them.

        Raises UsageError HD669: others have it; ToolError HD669: the folder cannot be used.
        """
        with ExitStack() as held:
            try:
                with self._alone():
                    share = min((self._free(key, name, wish) for key, name in gpus), default=WHOLE)
                    for key, _ in gpus:
                        held.enter_context(self._entry(key, share))
            except OSError as error:
                raise ToolError(f"{self._folder} cannot say who has which part of a GPU: {error.strerror}", code="HD669",
                                help="HETERODOOP_GPU_SHARES names another folder for all drivers of the node") from None
            yield share

    def _free(self, key: str, name: str, wish: int) -> int:
        """`wish`, or all that is left. Raises UsageError."""
        holders = self.holders(key)
        left = WHOLE - sum(holder.share for holder in holders)
        if left < max(wish, 1):
            raise UsageError(
                f"{wish or WHOLE} % of the memory of {name} cannot be had: {', '.join(map(str, holders))}", code="HD669",
                help="start each driver of the node with --gpu-memory-share, together 100 at most",
            )
        return wish or left

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the folder's lock. Raises OSError."""
        with suppress(FileExistsError):
            os.mkdir(self._folder)
            os.chmod(self._folder, 0o1777)  # as /tmp: whoever has a GPU may hold a part of one
        fd = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            end = time.monotonic() + ASK_SECONDS
            while not Lock(fd).take(fcntl.LOCK_EX):
                if time.monotonic() > end:
                    raise TimeoutError(0, "another process holds its lock")
                time.sleep(_TICK_SECONDS)
            yield
        finally:
            os.close(fd)

    @contextmanager
    def _entry(self, key: str, share: int) -> Iterator[None]:
        """This process's file, to which the lock belongs. Raises OSError."""
        self._sweep()
        path = self._folder / f"{key}.{os.getuid()}.{os.getpid()}.{next(_numbers)}"
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        try:
            os.fchmod(fd, 0o644)
            Lock(fd).take()
            Lock(fd).sign(share=share)
            yield
        finally:
            with suppress(OSError):
                os.unlink(path)
            os.close(fd)

    def _sweep(self) -> None:
        """Remove files of our drivers that were killed; other users' are theirs to remove."""
        for path in self._folder.glob(f"*.{os.getuid()}.*"):
            if not owner_of(path):
                with suppress(OSError):
                    path.unlink()


def _holder(path: Path) -> Holder | None:
    """Whose file it is, while its process lives; a share that is none counts for nothing."""
    owner = owner_of(path)
    try:
        found = os.lstat(path)
        share = int(owner.more["share"]) if owner else 0
    except (OSError, KeyError, TypeError, ValueError):
        return None
    return Holder(found.st_uid, owner, share) if owner and stat.S_ISREG(found.st_mode) and 0 < share <= WHOLE else None
