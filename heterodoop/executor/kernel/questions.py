"""What a prologue asked for, and whether it would get the same answers again: then its result is the same, too.

The questions come from runtime/cpu/asked.c: names of environment variables, and of files that were opened to be read. A
file's answer is what identifies its content: device, inode, size and time of change. Not here: running prologues
(prologue.py).
"""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from ...values import dataclass
from ..native.runtime import FilterCommand

_VARIABLE, _FILE = b"e", b"f"
_CLOCK_NS = 20_000_000  # a file's time of change comes from a coarser clock, which is behind


class Answers(NamedTuple):
    """Values of variables (None: not set) and identities of files (None: there is none), in the order of the questions."""

    variables: tuple[bytes | None, ...]
    files: tuple[tuple[int, ...] | None, ...]


@dataclass(frozen=True)
class Questions:
    variables: tuple[bytes, ...]
    files: tuple[bytes, ...]

    @classmethod
    def read(cls, data: bytes) -> Questions | None:
        """Of what asked.c wrote. None where something is asked for that `answers` cannot tell."""
        *parts, rest = data.split(b"\0")
        kinds = {part[:1] for part in parts}
        found = {kind: tuple(dict.fromkeys(part[1:] for part in parts if part[:1] == kind)) for kind in (_VARIABLE, _FILE)}
        if rest or not kinds <= {_VARIABLE, _FILE} or not all(map(_plain, found[_FILE])):
            return None
        return cls(found[_VARIABLE], found[_FILE])

    def answers(self, command: FilterCommand, changed_before: int | None = None) -> Answers | None:
        """In the environment and the working folder of `command`. None where they do not tell what a file holds.

        changed_before  nanoseconds since the epoch: a file that changed since then may not hold any more what was read.
        """
        values: dict[bytes, bytes] = {}
        for setting in command.env if self.variables else ():
            name, _, value = os.fsencode(setting).partition(b"=")
            values.setdefault(name, value)
        identities = []
        for name in self.files:
            identity = _identity(os.path.join(os.fsencode(command.cwd), name))
            if identity == () or (identity and changed_before and identity[-1] >= changed_before - _CLOCK_NS):
                return None
            identities.append(identity)
        return Answers(tuple(values.get(name) for name in self.variables), tuple(identities))


def _plain(name: bytes) -> bool:
    """Does it mean the same in the prologue's own working folder as in the task's?"""
    return bool(name) and b".." not in name.split(b"/")


def _identity(path: bytes) -> tuple[int, ...] | None:
    """None: there is no such file. (): its content does not follow from this (a device, a pipe, a file of the system's)."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    except OSError:
        return ()
    if not stat.S_ISREG(found.st_mode) or found.st_size == 0:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
