"""Making the output folder, putting results into it, and taking everything back.

The folder is made first, by one mkdir that either makes it or finds it there, so that two jobs never share one. As
with Hadoop's FileOutputCommitter, task outputs are set aside when their task commits, and appear in the folder
together when all tasks are done; _SUCCESS comes last, when all of them are on the disk.

A job holds a lock on OUT/_temporary/job, which ends with its process. An output without _SUCCESS that nobody holds is what
a killed job left, or one that could not remove it all: the next command with this output removes it.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ...daemon.lock import Lock
from ...errors import JobFailed, UsageError
from ...storage.inputs import local_path
from ..job.layout import SUCCESS, TEMPORARY, AttemptFolder, Layout, remove_tree, sync, sync_tree


class Reservation(NamedTuple):
    """The output folder that this job made, with the folders above it that it had to make (outermost first).

    lock  descriptor of the job's file, which is held by it.
    """

    layout: Layout
    parents: tuple[Path, ...]
    lock: int

    def discard(self) -> None:
        """Remove everything the job made at its output."""
        remove_output(self.layout)
        _remove_empty(self.parents)

    def release(self) -> None:
        """The job has ended; call it once. How it ended is settled: a lock file that will not close does not change it."""
        with contextlib.suppress(OSError):
            os.close(self.lock)


def reserve(output: str) -> Reservation:
    """Make the output folder. Raises UsageError HD020 (exists, left as it is), HD021 (cannot be made)."""
    path = Path(local_path(output))
    made: list[Path] = []
    try:
        path = Path(os.path.abspath(path))  # fails where the current folder is gone
        layout = Layout(path)
        for parent in reversed(path.parents):
            if not parent.exists():
                parent.mkdir(exist_ok=True)
                made.append(parent)
                sync(parent.parent)
        if os.path.lexists(path):
            remove_abandoned(layout)
        path.mkdir(0o1777)
        made.append(path)
        layout.temporary.mkdir()
        lock = os.open(layout.job, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with contextlib.suppress(OSError):  # a file system without locks
            Lock(lock).take()
        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~stat.S_ISVTX)
        for folder in (layout.attempts, layout.maps, layout.done):
            folder.mkdir()
    except FileExistsError:
        raise _exists(path) from None
    except (OSError, ValueError) as error:
        if path in made:
            remove_output(layout)
        _remove_empty([parent for parent in made if parent != path])
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise UsageError(f"cannot make the output folder {str(path)!r}: {why}", code="HD021") from None
    return Reservation(layout, tuple(made[:-1]), lock)


def refuse_existing(output: str) -> None:
    """Raise UsageError HD020 where the output exists; for callers that have work to do before `reserve`."""
    if os.path.lexists(output):
        remove_abandoned(Layout(Path(os.path.abspath(output))))
    if os.path.lexists(output):
        raise _exists(Path(output))


def remove_unfinished(layout: Layout) -> None:
    """Remove an output that is not complete; one that is stays."""
    if not os.path.lexists(layout.output / SUCCESS):
        remove_output(layout)


def remove_output(layout: Layout) -> None:
    """Remove all at an output. What cannot be removed stays, and is for the next command with this output to remove.

    So the job's file goes last: without it nobody could know that what is left is of a job that is gone. And _SUCCESS goes
    first: it never lies beside a part of a result. Where it cannot be removed, all of the result stays with it.
    """
    with contextlib.suppress(OSError):
        _allow_removal(layout.output)
        with contextlib.suppress(IsADirectoryError):  # a filter's, which says nothing
            (layout.output / SUCCESS).unlink(missing_ok=True)
        if layout.temporary.is_symlink():  # never followed
            layout.temporary.unlink()
        alone = [_remove_but(layout.output, TEMPORARY), _remove_but(layout.temporary, layout.job.name)]
        if all(alone):
            _remove_last(layout)


def _remove_but(folder: Path, kept: str) -> bool:
    """Remove all entries but one; whether they are gone. Raises OSError: the folder cannot be read."""
    if not folder.exists():
        return True
    _allow_removal(folder)
    with os.scandir(folder) as entries:
        others = [entry for entry in entries if entry.name != kept]
    for entry in others:
        with contextlib.suppress(OSError):
            if entry.is_dir(follow_symlinks=False):
                remove_tree(Path(entry.path))
            else:
                os.unlink(entry.path)
    return not any(os.path.lexists(entry.path) for entry in others)


def _allow_removal(folder: Path) -> None:
    folder.chmod(stat.S_IMODE(folder.stat().st_mode) | stat.S_IRWXU)


def _remove_last(layout: Layout) -> None:
    """Remove the job's file and the two folders. A folder that stays looks like one that `reserve` left long ago."""
    layout.output.chmod(stat.S_IMODE(layout.output.stat().st_mode) | stat.S_ISVTX)
    try:
        layout.job.unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):
            layout.temporary.rmdir()
        layout.output.rmdir()
    except OSError:
        os.utime(layout.output, (0, 0))


_FILLING_SECONDS = 2.0  # more than `reserve` takes from its first step to the job's file


def remove_abandoned(layout: Layout) -> None:
    """Remove an output that a job left which is gone; any other one stays.

    A folder that is just being made, or was when its job was killed, is watched until it is clear which.
    """
    with contextlib.suppress(OSError, ValueError):
        patience = time.monotonic() + 2 * _FILLING_SECONDS  # clocks may differ, and others may make it again and again
        while _is_unfilled(layout) and time.monotonic() < patience:
            if time.time() - layout.output.stat().st_mtime > _FILLING_SECONDS:
                remove_output(layout)
                return
            time.sleep(_FILLING_SECONDS / 40)
        if _is_own_folder(layout.output.lstat()):
            there = set(os.listdir(layout.output))
            if SUCCESS not in there:
                _remove_if_free(layout, there)


def _is_unfilled(layout: Layout) -> bool:
    """The sticky bit says that `reserve` was not done with the folder, or that `remove_output` was all but done."""
    status = layout.output.lstat()
    sticky = _is_own_folder(status) and bool(status.st_mode & stat.S_ISVTX)
    return sticky and not os.path.lexists(layout.job) and set(os.listdir(layout.output)) <= {TEMPORARY}


def _is_own_folder(status: os.stat_result) -> bool:
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def _remove_if_free(layout: Layout, there: set[str]) -> None:
    """It stays where a job that runs holds it. Raises OSError: it is of none."""
    lock = os.open(layout.job, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not Lock(lock).take():
            return
        with contextlib.suppress(ValueError):
            there -= set(json.loads(os.read(lock, 1 << 26) or b"[]"))
        if there <= {TEMPORARY}:
            remove_output(layout)
    finally:
        os.close(lock)


def _remove_empty(folders: Sequence[Path]) -> None:
    """Remove folders, innermost last in the list and first to go, up to one that somebody put something into."""
    for folder in reversed(folders):
        try:
            folder.rmdir()
        except OSError:
            break


def _exists(path: Path) -> UsageError:
    help = "remove it, or name another output"
    try:
        if path.is_dir() and os.listdir(path) == [TEMPORARY]:
            help = "it holds only the temporary files of a job that runs now or was killed; if none runs, remove it"
    except OSError:
        pass
    return UsageError(f"the output {str(path)!r} exists already", code="HD020", help=help)


def commit_attempt(layout: Layout, folder: AttemptFolder) -> None:
    """The files in an attempt's out/ become its task's. Raises JobFailed HD406."""
    try:
        _move_into(str(folder.out), str(layout.done))
    except OSError as error:
        raise _failed(error) from None


def commit_job(layout: Layout) -> None:
    """All tasks are done: their files appear, the temporary ones go, _SUCCESS says so. Raises JobFailed HD406."""
    try:
        _drop_reserved(layout.done)
        layout.job.write_text(json.dumps(os.listdir(layout.done)), encoding="ascii")
        sync_tree(layout.done)
        _move_into(str(layout.done), str(layout.output))
        for folder in (layout.attempts, layout.maps, layout.done):
            remove_tree(folder)
        success = layout.temporary / SUCCESS
        success.touch(exist_ok=False)
        sync(layout.output)
        success.rename(layout.output / SUCCESS)
        sync(layout.output)
        sync(layout.output.parent)
        remove_tree(layout.temporary)  # last, as nothing can fail any more: until then it says whose the output is
    except OSError as error:
        raise _failed(error) from None


def _drop_reserved(done: Path) -> None:
    """Filters may leave files with the names that say how far a job is; as with Hadoop these are not theirs to make.

    A folder `_SUCCESS` is let through: ours then finds no place, and the job fails rather than lose what is in it.
    """
    if not (done / SUCCESS).is_dir():
        (done / SUCCESS).unlink(missing_ok=True)
    with contextlib.suppress(NotADirectoryError):
        remove_tree(done / TEMPORARY)
    (done / TEMPORARY).unlink(missing_ok=True)


def _move_into(source: str, target: str) -> None:
    """Move all entries of a folder; a folder that is there already gets the new one's entries, a file is replaced."""
    with os.scandir(source) as entries:
        for entry in list(entries):
            there = os.path.join(target, entry.name)
            if entry.is_dir(follow_symlinks=False) and os.path.isdir(there):
                _move_into(entry.path, there)
                os.rmdir(entry.path)
            else:
                os.rename(entry.path, there)


def _failed(error: OSError) -> JobFailed:
    return JobFailed(f"cannot put the output in place: {error.filename!r}: {error.strerror}", code="HD406")
