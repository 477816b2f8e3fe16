"""Making the output folder, putting results into it, and taking everything back.

The folder is made first, by one mkdir that either makes it or finds it there, so that two jobs never share one. As
with Hadoop's FileOutputCommitter, task outputs are set aside when their task commits, and appear in the folder
together when all tasks are done; _SUCCESS comes last.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..errors import JobFailed, UsageError
from ..storage.inputs import local_path
from .layout import SUCCESS, TEMPORARY, AttemptFolder, Layout, remove_tree


class Reservation(NamedTuple):
    """The output folder that this job made, with the folders above it that it had to make (outermost first)."""

    layout: Layout
    parents: tuple[Path, ...]

    def discard(self) -> None:
        """Remove everything the job made at its output."""
        remove_tree(self.layout.output)
        _remove_empty(self.parents)


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
        path.mkdir()
        made.append(path)
        for folder in (layout.temporary, layout.attempts, layout.maps, layout.done):
            folder.mkdir()
    except FileExistsError:
        raise _exists(path) from None
    except (OSError, ValueError) as error:
        if path in made:
            remove_tree(path)
        _remove_empty([parent for parent in made if parent != path])
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise UsageError(f"cannot make the output folder {str(path)!r}: {why}", code="HD021") from None
    return Reservation(layout, tuple(made[:-1]))


def refuse_existing(output: str) -> None:
    """Raise UsageError HD020 where the output exists; for callers that have work to do before `reserve`."""
    if os.path.lexists(output):
        raise _exists(Path(output))


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
        _move_into(str(layout.done), str(layout.output))
        remove_tree(layout.temporary)
        (layout.output / SUCCESS).touch(exist_ok=False)
    except OSError as error:
        raise _failed(error) from None


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
