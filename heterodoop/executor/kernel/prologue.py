"""What a kernel needs from the code before its region: run that code, read what it left, make device data of it.

The prologue is a program of the bundle: the user's own main() up to the region. Its data is on descriptor 3: per object
of `Kernel.shared` address and size (u64, little endian), then the bytes. Here it becomes the kernel's parameter block,
objects for device memory and the places where their addresses go. Whatever is not as expected raises DeviceError, and
the task runs on the CPU, which decides what the program does. Not here: which variables these are (the compiler).
"""

from __future__ import annotations

import contextlib
import os
import struct
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import NamedTuple, Protocol

from ...errors import DeviceError
from ...manifest import Kernel, SharedVar, Texel
from ...values import dataclass
from ..native.runtime import FilterCommand, Progress, TaskResult, TaskStatus
from .epilogue import private_folder
from .questions import Answers, Questions

_MOST_KEPT = 16  # results of a prologue; one that asks for what is another in every task keeps that many in vain
_TICK_SECONDS = 0.1
_ASKED = SharedVar("what it asked for", "object", 0, 0)
_HEAD = struct.Struct("<QQ")
_POINTER = struct.Struct("<Q")
_GAP = bytes(16)  # behind an object, so that a pointer behind it does not lead to another (lane/extent.cuh)


@dataclass(frozen=True)
class Relocation:
    """`shared[at : at + 8]` becomes the device address of objects[object] plus `delta`, or a texture object over it."""

    object: int
    at: int
    delta: int
    texel: Texel = ""


@dataclass(frozen=True)
class LiveIns:
    """The kernel's second parameter (`shared`), device objects, and where their addresses go in it."""

    shared: bytes
    objects: tuple[bytes, ...] = ()
    relocations: tuple[Relocation, ...] = ()


@dataclass(frozen=True)
class WrittenObject:
    """One object as the prologue wrote it: its address in that process, and its bytes."""

    address: int
    data: bytes

    def holds(self, address: int) -> bool:
        return self.address <= address < self.address + len(self.data)

    @property
    def end(self) -> int:
        return self.address + len(self.data)


class PrologueRunner(Protocol):
    """The part of `native.Native` that is used here."""

    def prologue(
        self, command: FilterCommand, data_fd: int, progress: Progress | None = None, timeout_seconds: float = 0.0,
    ) -> TaskResult: ...


class _Kept(NamedTuple):
    """A result that serves other tasks, where `questions` get the same answers; None: it serves them all."""

    live_ins: LiveIns
    questions: Questions | None = None
    answers: Answers | None = None

    def serves(self, command: FilterCommand) -> bool:
        return self.questions is None or self.questions.answers(command) == self.answers


@dataclass
class Prologues:
    """Live-ins of a job's kernels by prologue; one that serves several tasks is made once.

    One that was stopped for its silence is not run again: each of the job's tasks would hold a device as long.
    """

    runner: PrologueRunner
    _kept: dict[Path, deque[_Kept]] = field(default_factory=dict)
    _silent: dict[Path, str] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def live_ins(
        self, kernel: Kernel, program: Path, command: FilterCommand, scratch: Path, progress: Progress,
        timeout_seconds: float = 0.0,
    ) -> LiveIns:
        """For one task. `command` has the task's environment and working folder; `scratch`: where a folder can be made.

        timeout_seconds  of silence after which the prologue is stopped; 0 = never.
        Raises DeviceError: why the task must run on the CPU. OSError where the folder cannot be made.
        """
        if not kernel.prologue:
            return LiveIns(bytes(kernel.shared_bytes))
        run = partial(self._run, kernel, program, command, scratch, progress, timeout_seconds)
        if kernel.prologue_runs == "each":
            return run().live_ins
        with _waiting(self._lock, progress):
            known = self._kept.get(program)
            if known is None:  # the first task's serves the others, as a rule, so that they wait for it
                made = run()
                self._kept[program] = deque([made] if _keepable(made, kernel) else [], _MOST_KEPT)
                return made.live_ins
            known = deque(known)
        for kept in known:
            if kept.serves(command):
                return kept.live_ins
        made = run()
        if _keepable(made, kernel):
            with self._lock:
                self._kept[program].append(made)
        return made.live_ins

    def _run(
        self, kernel: Kernel, program: Path, command: FilterCommand, scratch: Path, progress: Progress, timeout: float,
    ) -> _Kept:
        if why := self._silent.get(program):
            raise _alone(why)
        begun = time.time_ns()
        fd = os.memfd_create("prologue", os.MFD_CLOEXEC)
        try:
            with private_folder(Path(os.fsdecode(command.cwd)), scratch, "prologue") as folder:
                moved = replace(command, cwd=folder)
                result = self.runner.prologue(moved, fd, progress, timeout)
            if result.status is TaskStatus.TIMED_OUT:
                self._silent[program] = result.message
            if result.status is not TaskStatus.OK:
                raise _alone(_why(result))
            with os.fdopen(os.dup(fd), "rb") as data:
                data.seek(0)
                text = data.read()
        finally:
            os.close(fd)
        if kernel.prologue_runs != "asked":
            return _Kept(place(kernel, read_objects(kernel.shared, text)))
        *given, asked = read_objects([*kernel.shared, _ASKED], text)
        questions = Questions.read(asked.data) if asked.address else None
        return _Kept(place(kernel, given), questions, questions.answers(command, begun) if questions else None)


def _why(result: TaskResult) -> str:
    """What it failed by, and the last that it said."""
    said = result.stderr_tail.rstrip().rpartition("\n")[2]
    return f"{result.message or 'it was stopped'}{f' ({said})' if said else ''}"


def _keepable(made: _Kept, kernel: Kernel) -> bool:
    return kernel.prologue_runs == "once" or made.answers is not None


@contextlib.contextmanager
def _waiting(lock: Lock, progress: Progress) -> Iterator[None]:
    """Holds the lock; a task that is told to stop does not wait for it."""
    while not lock.acquire(timeout=_TICK_SECONDS):
        if progress.cancelled:
            raise _alone("it was stopped")
    try:
        yield
    finally:
        lock.release()


def _alone(why: str) -> DeviceError:
    return DeviceError(f"the code before the region could not be run alone: {why}", code="HD410")


def read_objects(shared: Sequence[SharedVar], data: bytes) -> list[WrittenObject]:
    """The objects that the prologue wrote, one per entry of `shared`, of the sizes that are known.

    Raises DeviceError HD410 where there are less or more bytes, or an object of another size.
    """
    objects, at = [], 0
    for var in shared:
        address, size = _HEAD.unpack_from(data, at) if at + _HEAD.size <= len(data) else (0, len(data))
        at += _HEAD.size
        if at + size > len(data):
            raise _bad(f"{var.name} is missing or cut short")
        if var.nbytes and size != var.nbytes:
            raise _bad(f"{var.name} has {size} bytes, not {var.nbytes}")
        objects.append(WrittenObject(address, data[at : at + size]))
        at += size
    if at != len(data):
        raise _bad(f"{len(data) - at} bytes follow the last object")
    return objects


def place(kernel: Kernel, given: Sequence[WrittenObject]) -> LiveIns:
    """Parameter block, device objects and relocations of what the prologue wrote. Raises DeviceError HD410."""
    block = bytearray(kernel.shared_bytes)
    vars = list(zip(kernel.shared, given, strict=True))
    objects: dict[int, int] = {}  # position in `vars` -> number of the device object
    for i, (var, item) in enumerate(vars):
        if var.kind in ("object", "texture", "heap", "string") and item.data:
            objects[i] = len(objects)
    relocations = []
    for i, (var, item) in enumerate(vars):
        if var.kind in ("scalar", "array"):
            _put(block, var, item.data)
        elif var.kind == "pointer":
            relocation = _pointer(var, item, vars, objects)
            _put(block, var, bytes(_POINTER.size))
            relocations += [relocation] if relocation else []
        elif var.kind == "string" and var.offset >= 0:
            _put(block, var, struct.pack("<QQ", 0, len(item.data)))
            relocations += [Relocation(objects[i], var.offset, 0)] if i in objects else []
        elif var.kind in ("object", "texture"):
            _put(block, var, bytes(_POINTER.size))
            relocations += [Relocation(objects[i], var.offset, 0)] if i in objects else []
            if i in objects and var.texel:
                _put(block, replace(var, offset=var.offset + _POINTER.size), bytes(_POINTER.size))
                relocations.append(Relocation(objects[i], var.offset + _POINTER.size, 0, var.texel))
    data = tuple(_head(vars[i][0], vars[i][1]) + vars[i][1].data + _GAP for i in objects)
    return LiveIns(bytes(block), data, tuple(relocations))


def _head(var: SharedVar, item: WrittenObject) -> bytes:
    """What stands before memory of the heap: its size, for lane/extent.cuh."""
    return struct.pack("<QQ", len(item.data), 0) if var.kind == "heap" else b""


def _put(block: bytearray, var: SharedVar, data: bytes) -> None:
    if var.offset < 0 or var.offset + len(data) > len(block):
        raise _bad(f"{var.name} lies outside the kernel's {len(block)} parameter bytes")
    block[var.offset : var.offset + len(data)] = data


def _pointer(
    var: SharedVar, item: WrittenObject, vars: Sequence[tuple[SharedVar, WrittenObject]], objects: dict[int, int],
) -> Relocation | None:
    """Where a pointer leads on the device; None: it is NULL.

    C allows a pointer just behind an object. Where another object begins there, nobody can tell which one is meant.
    """
    if len(item.data) != _POINTER.size:
        raise _bad(f"{var.name} has {len(item.data)} bytes and is a pointer")
    (address,) = _POINTER.unpack(item.data)
    if not address:
        return None
    inside = [i for i in objects if vars[i][1].holds(address)]
    behind = [i for i in objects if vars[i][1].end == address]
    if not inside and not behind:
        raise DeviceError(
            f"pointer {var.name!r} leads to memory that is not copied to the device", code="HD410",
        )
    if inside and behind:
        first, second = vars[behind[0]][0].name, vars[inside[0]][0].name
        raise DeviceError(
            f"pointer {var.name!r} is both the end of {first!r} and the start of {second!r}", code="HD410",
        )
    target = (inside or behind)[0]
    before = len(_head(*vars[target]))
    return Relocation(objects[target], var.offset, before + address - vars[target][1].address)


def _bad(what: str) -> DeviceError:
    return DeviceError(f"the code before the region did not hand over its variables: {what}", code="HD410")
