"""One attempt of a map task as a host kernel: a program of the bundle that does the work of the map filter, or of both.

Its result is what `cpu_task.run_map` gives, or filters do the task in the same attempt, and the result says why. Not here:
the program's run and the protocol (runtime/host/host_kernel/map.cpp), the program itself (runtime/hostlane), which tasks
come here (engine).
"""

from __future__ import annotations

import contextlib
import os
import struct
import weakref
from collections.abc import Iterator
from dataclasses import field, replace
from pathlib import Path
from threading import Lock

from ...errors import DeviceError
from ...manifest import Kernel, Manifest
from ...values import dataclass
from ..native.runtime import MapSpec, Progress, TaskStatus
from ..task.cpu_task import (
    MapRun,
    TaskRunner,
    begin_again,
    changed_file,
    filter_command,
    map_result,
    map_spec,
    run_map,
    run_split,
)
from ..task.report import AttemptResult
from .epilogue import private_folder
from .prologue import LiveIns, Prologues

TEXT = "text"  # argument of a program that is to print what the map prints
LEFT_STAGE = "left"  # seconds of a host kernel that was left
_MOST_IN_A_ROW = 3


@dataclass(frozen=True)
class HostCode:
    """The host kernel of a bundle. Paths are absolute.

    kernel    what it was made of: says what it gets from the code before its region.
    prologue  None where it gets nothing.
    folds     it does the combiner's work, too; else it prints what the map prints.
    regroup   as in manifest.HostKernel, where it folds.
    epilogue  runs behind it, with what its records gather; None where nothing behind the loop shows.
    """

    program: Path
    kernel: Kernel
    prologue: Path | None
    folds: bool
    regroup: bool
    epilogue: Path | None = None


def host_code(found: Manifest, bundle: Path, reducers: int) -> HostCode | None:
    """The host kernel that a job's map tasks can run as; None: there is none.

    bundle  absolute. reducers: of the job.
    """
    program = found.program("map")
    if not (program and program.host and program.kernel):
        return None
    kernel, host = program.kernel, program.host
    prologue, epilogue = (bundle / path if path else None for path in (kernel.prologue, kernel.epilogue))
    folds = host.folds and found.program("combine") is not None and reducers > 0
    return HostCode(bundle / host.binary, kernel, prologue, folds, folds and host.regroup, epilogue)


def refusal(found: Manifest) -> str:
    """Why a job has no host kernel."""
    program = found.program("map")
    if program and program.no_host:
        first = program.no_host[0]
        place = f" ({first.place})" if first.place else ""
        return f"{first.message}{place} [{first.code}]"
    return "the bundle holds no host kernel"


@dataclass(frozen=True)
class Left:
    """Why a host kernel did not do a task, which is the filters' now.

    seconds  that it took, in vain. silent: it was stopped because it was silent for too long.
    """

    reason: str
    seconds: float = 0.0
    silent: bool = False


class LiveInsFile:
    """Live-ins as a file without a name, which is there as long as this object is."""

    def __init__(self, live_ins: LiveIns) -> None:
        self.live_ins = live_ins
        self.fd = os.memfd_create("live-ins", os.MFD_CLOEXEC)
        weakref.finalize(self, os.close, self.fd)
        with os.fdopen(os.dup(self.fd), "wb") as file:
            for part in serialise(live_ins):
                file.write(part)


def serialise(live_ins: LiveIns) -> tuple[bytes, ...]:
    """Parts of the file: u64s, little endian (bytes of `shared`, number of objects, of relocations; each object's bytes;
    each relocation's object, at, delta), then `shared`, then the objects. What is a texture on a GPU is an array here.
    """
    sizes = [len(item) for item in live_ins.objects]
    pointers = [one for one in live_ins.relocations if not one.texel]
    places = [number for one in pointers for number in (one.object, one.at, one.delta)]
    head = [len(live_ins.shared), len(sizes), len(pointers), *sizes, *places]
    return struct.pack(f"<{len(head)}Q", *head), live_ins.shared, *live_ins.objects


@dataclass
class Tries:
    """Whether a job's host kernel is worth trying again. One that was silent for too long is not waited for again, nor one
    that was left by several tasks in a row. given_up: why not; "" while it is."""

    given_up: str = ""
    _in_a_row: int = 0

    def note(self, done: AttemptResult | Left) -> None:
        if isinstance(done, AttemptResult):
            if not done.failure and not done.cancelled:
                self._in_a_row = 0
            return
        self._in_a_row += 1
        if done.silent or self._in_a_row >= _MOST_IN_A_ROW:
            self.given_up = f"not tried any more: {done.reason}"


def by_filters(result: AttemptResult, why: Left) -> AttemptResult:
    """The result of filters, in the place of a host kernel's."""
    wasted = {LEFT_STAGE: why.seconds} if why.seconds else {}
    return replace(result, left=why.reason, seconds={**result.seconds, **wasted})


@dataclass
class HostMaps:
    """The map tasks of a job as host kernels; several threads may run them at a time."""

    code: HostCode
    runner: TaskRunner
    prologues: Prologues
    _lock: Lock = field(default_factory=Lock)
    _kept: LiveInsFile | None = None
    _tries: Tries = field(default_factory=Tries)

    @property
    def given_up(self) -> str:
        """Why the host kernel is not tried any more; "" while it is."""
        return self._tries.given_up

    def run_map(self, run: MapRun, progress: Progress) -> AttemptResult:
        """A map task, as `cpu_task.run_map`; with `left` set where filters did it. Raises OSError as `run_alone`.

        An attempt whose filter is watched, because it failed before, is the filters'.
        """
        place = run.place
        if self._tries.given_up or place.watch_from is not None or place.combine_watch_from is not None:
            return self._by_filters(run, progress, Left(self._tries.given_up))
        done = self.run_alone(run, progress)
        self._tries.note(done)
        if isinstance(done, AttemptResult):
            return done
        if progress.cancelled:
            return AttemptResult(cancelled=True)
        begin_again(run.place, progress)
        return self._by_filters(run, progress, done)

    def run_alone(self, run: MapRun, progress: Progress) -> AttemptResult | Left:
        """A map task as a host kernel, or why filters must run it. Raises OSError where the prologue's folder or the
        live-ins' file cannot be made."""
        changed = changed_file(run.split)
        if changed:
            return AttemptResult(failure=changed)
        try:
            live_ins = self._live_ins(run, progress)
        except DeviceError as error:
            return Left(error.message)
        command = filter_command(run.job, self.code.program, run.place)
        if not self.code.folds:
            command = replace(command, argv=[*command.argv, TEXT])
        spec = replace(
            map_spec(run.job, run.split, run.place, run.out, run.index), regroup=self.code.regroup, host=command,
            host_folds=self.code.folds, live_ins=live_ins.fd if live_ins else None,
        )
        with self._behind(run, spec) as spec:
            result, fault = run_split(self.runner, spec, run.split, progress)
        if result.status in (TaskStatus.HOST_LEFT, TaskStatus.HOST_SILENT) and not fault:
            silent = result.status is TaskStatus.HOST_SILENT
            return Left(result.message, result.seconds.get("total", 0.0), silent)
        return replace(map_result(result, fault, 1, run.job, run.out, run.index), host=True)

    @contextlib.contextmanager
    def _behind(self, run: MapRun, spec: MapSpec) -> Iterator[MapSpec]:
        """The spec with the epilogue, where there is one, and a folder for it."""
        if self.code.epilogue is None:
            yield spec
            return
        command = filter_command(run.job, self.code.epilogue, run.place)
        with private_folder(run.place.work, run.place.scratch, "epilogue") as folder:
            yield replace(spec, epilogue=replace(command, cwd=folder))

    def _by_filters(self, run: MapRun, progress: Progress, why: Left) -> AttemptResult:
        result = run_map(self.runner, run.job, run.split, run.place, run.out, run.index, progress)
        return by_filters(result, why)

    def _live_ins(self, run: MapRun, progress: Progress) -> LiveInsFile | None:
        """For one task. The last one's file serves the next, where these are the same live-ins.

        The prologue also runs where an epilogue does, which is the code before the loop once more: that must print nothing.
        """
        kernel = self.code.kernel
        if not kernel.prologue:
            return None
        command = filter_command(run.job, self.code.prologue or self.code.program, run.place)
        live_ins = self.prologues.live_ins(
            kernel, Path(os.fsdecode(command.argv[0])), command, run.place.scratch, progress, run.job.timeout_seconds)
        if not kernel.shared:
            return None
        with self._lock:
            if self._kept is None or self._kept.live_ins is not live_ins:
                self._kept = LiveInsFile(live_ins)
            return self._kept
