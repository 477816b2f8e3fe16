"""Where a job's files lie. Everything that is not result lies under OUT/_temporary until the job ends.

    OUT/_temporary/attempts/m_000003_0/   one attempt: spills, and work/ (the filters' working folder), tmp/ (TMPDIR),
                                          out/ (its part file, and what filters leave in mapreduce_task_output_dir)
    OUT/_temporary/inputs/                what streams held that are inputs, each in a file
    OUT/_temporary/maps/                  IFiles and indexes of attempts that ended well
    OUT/_temporary/job                    held by the job's process; names what it is about to put into OUT
    OUT/_temporary/done/                  outputs of committed attempts; moved to OUT when the job commits
    OUT.report/                           report.json, attempts.jsonl, logs/
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from pathlib import Path
from typing import NamedTuple

from ...scheduler.model import Attempt

TEMPORARY = "_temporary"
SUCCESS = "_SUCCESS"


class Layout(NamedTuple):
    """Absolute paths of one job."""

    output: Path

    @property
    def report(self) -> Path:
        return self.output.with_name(self.output.name + ".report")

    @property
    def logs(self) -> Path:
        return self.report / "logs"

    @property
    def temporary(self) -> Path:
        return self.output / TEMPORARY

    @property
    def job(self) -> Path:
        return self.temporary / "job"

    @property
    def attempts(self) -> Path:
        return self.temporary / "attempts"

    @property
    def inputs(self) -> Path:
        return self.temporary / "inputs"

    @property
    def maps(self) -> Path:
        return self.temporary / "maps"

    @property
    def done(self) -> Path:
        return self.temporary / "done"

    def log(self, attempt: Attempt) -> Path:
        return self.logs / f"{attempt}.log"

    def attempt(self, attempt: Attempt) -> AttemptFolder:
        return AttemptFolder(self.attempts / str(attempt))

    def map_output(self, attempt: Attempt) -> tuple[Path, Path]:
        """The IFile and the index that an attempt of a map task leaves when it ends well."""
        return self.maps / f"{attempt}.out", self.maps / f"{attempt}.index"


FOLDERS = ("out", "tmp", "work")


class AttemptFolder(NamedTuple):
    """The private folder of one attempt."""

    root: Path

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def tmp(self) -> Path:
        return self.root / "tmp"

    @property
    def out(self) -> Path:
        return self.root / "out"

    def make(self, files: tuple[tuple[str, Path], ...], used: AttemptFolder | None) -> None:
        """Make the folders, of `used` ones if given (a new folder can cost more than the rest of a small task).

        files  (name, absolute path) that appear in the working folder as links.
        """
        if used:
            os.rename(used.root, self.root)
        else:
            os.mkdir(self.root)
            for name in FOLDERS:
                os.mkdir(self.root / name)
        for name, path in files:
            os.symlink(path, self.work / name)

    def tidy(self) -> None:
        """Remove what filters left in work/ and tmp/; and work/ itself where the folders are not as new then."""
        try:
            for folder in (self.work, self.tmp):
                for name in os.listdir(folder):
                    os.unlink(folder / name)
            modes = [os.stat(self.root / name).st_mode for name in FOLDERS]
            new = all(mode & stat.S_IRWXU == stat.S_IRWXU for mode in modes) and len(os.listdir(self.root)) == len(FOLDERS)
        except OSError:  # a folder in one of them, or one is gone or made read-only
            new = False
        if not new:
            remove_tree(self.work)

    def can_serve_again(self) -> bool:
        """Whether another attempt can have these folders: `tidy` left all of them."""
        return os.path.exists(self.work)


def part_name(number: int) -> str:
    return f"part-{number:05d}"


def remove_tree(path: Path) -> None:
    """Remove a folder and all in it, also where a filter made folders read-only. What cannot be removed stays.

    Links are removed and never followed.
    """
    if os.path.islink(path):
        os.unlink(path)
        return
    shutil.rmtree(path, ignore_errors=True)
    if not os.path.lexists(path):
        return
    with contextlib.suppress(OSError):
        os.chmod(path, stat.S_IRWXU)
        for folder, folders, _ in os.walk(path):
            for name in folders:
                inner = os.path.join(folder, name)
                if not os.path.islink(inner):  # a --file folder is the user's
                    os.chmod(inner, stat.S_IRWXU)
    shutil.rmtree(path, ignore_errors=True)


def sync(path: str | os.PathLike[str]) -> None:
    """What `path` holds is on the disk. Raises OSError where the disk refuses it; one that knows no such thing may."""
    with contextlib.suppress(FileNotFoundError, PermissionError):  # filters may leave links to nowhere
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.fsync(file)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EROFS):
                raise OSError(error.errno, error.strerror, os.fspath(path)) from None
        finally:
            os.close(file)


def sync_tree(path: Path) -> None:
    """What a folder and all below it hold is on the disk. Links are not followed. Raises OSError as `sync`."""
    for root, _, names in os.walk(path):
        for name in names:
            sync(os.path.join(root, name))
        sync(root)
