"""Several small files as the input of one host kernel: the records of all, file behind file, in a file without a name.

Which files these may be is the engine's to say (engine/devices/together.py). Whatever the host kernel does not do fails
here: then each file is a task of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ...errors import DeviceError
from ...storage.local import InputFile
from ..native.runtime import Progress
from ..task.cpu_task import MapRun, Place, changed_file, filter_command
from ..task.report import AttemptResult, TaskFailure
from ..task.split import Split
from .host_kernel import HostMaps, Left
from .prologue import LiveIns

_MARK = b"\xef\xbb\xbf"  # a byte order mark, which is no part of a file's first record


def run_joined(maps: HostMaps, run: MapRun, progress: Progress) -> AttemptResult:
    """A map task of several files, `run.place` and `run.others`, as a host kernel. Its failure is none of a task.

    Raises OSError as `HostMaps.run_alone`.
    """
    if maps.given_up:
        return _not_here(maps.given_up)
    try:
        if not _alike(maps, run, progress):
            return _not_here("the code before the map's loop gives another result for each file")
    except DeviceError as error:
        return _not_here(error.message)
    splits = [names.split for names in (run.place.names, *(place.names for place in run.others)) if names.split]
    with _joined(splits) as made:
        if isinstance(made, TaskFailure):
            return AttemptResult(failure=made)
        done = maps.run_alone(replace(run, split=made), progress)
    if isinstance(done, Left):
        return AttemptResult(cancelled=True) if progress.cancelled else _not_here(done.reason)
    return done


def _not_here(why: str) -> AttemptResult:
    return AttemptResult(failure=TaskFailure(f"these files are not done together: {why}", "HD432"))


def _alike(maps: HostMaps, run: MapRun, progress: Progress) -> bool:
    """Whether the kernel gets the same for each of the files. Raises DeviceError, OSError as `Prologues.live_ins`."""
    kernel = maps.code.kernel
    if not kernel.prologue or kernel.prologue_runs == "once":
        return True

    def of(place: Place) -> LiveIns:
        command = filter_command(run.job, maps.code.prologue or maps.code.program, place)
        program = Path(os.fsdecode(command.argv[0]))
        return maps.prologues.live_ins(kernel, program, command, run.place.scratch, progress, run.job.timeout_seconds)

    first = of(run.place)
    return all(of(place) == first for place in run.others)


@contextmanager
def _joined(splits: Sequence[Split]) -> Iterator[Split | TaskFailure]:
    """Whole files as one split, or which of them is not what it was when the job was planned. Raises OSError."""
    file = os.memfd_create("small-files", os.MFD_CLOEXEC)
    try:
        size = 0
        for split in splits:
            text = _text(split)
            if changed := changed_file(split):
                yield changed
                return
            size += _append(file, text, first=not size)
        yield Split(InputFile(f"/proc/self/fd/{file}", size), 0, size)
    finally:
        os.close(file)


def _text(split: Split) -> bytes:
    file = os.open(split.file.path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, split.length + 1)  # less than the system reads at once
    finally:
        os.close(file)


def _append(file: int, text: bytes, *, first: bool) -> int:
    """A file's records, the last one with its end. A mark that begins the whole is left to who reads that."""
    if text.startswith(_MARK) and (not first or len(text) == len(_MARK)):
        text = text[len(_MARK):]
    if text and not text.endswith(b"\n"):
        text += b"\n"  # behind \r, too: what follows may begin with \n, which is a record's end of its own
    view = memoryview(text)
    while view:
        view = view[os.write(file, view):]
    return len(text)
