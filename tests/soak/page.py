"""The page that the harness shares with the processes of a run, in which stands what their system calls are to do.

shim.c reads it; the two describe the same bytes. One page serves a lane for ever: a rule is written before a run or during
it, and taken away again.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).with_name("shim.c")
VARIABLE = "SOAK_PAGE"

CALLS = (
    "read", "write", "open", "create", "rename", "unlink", "mkdir", "rmdir", "fsync", "truncate", "mmap", "fork", "exec",
    "thread", "pipe", "link", "list", "close", "send", "receive", "connect", "accept", "socket", "memory",
)
COMMAND, WORKER, FILTER, TOOL = 1, 2, 4, 8
COUNT, FAIL, HALF, FLIP, SIGNAL, FULL = range(6)
RULES, PATTERN, WHERE = 160, 256, 256
TAKES_ROOM = ("write", "create", "mkdir", "link", "truncate", "rename")  # what a full disk refuses


class _Rule(ctypes.Structure):
    _fields_ = [
        ("on", ctypes.c_int), ("roles", ctypes.c_int), ("action", ctypes.c_int), ("value", ctypes.c_int),
        ("sticky", ctypes.c_int), ("calls", ctypes.c_uint), ("nth", ctypes.c_long), ("pattern", ctypes.c_char * PATTERN),
        ("seen", ctypes.c_long), ("struck", ctypes.c_long), ("used", ctypes.c_long), ("said", ctypes.c_int),
        ("where", ctypes.c_char * WHERE),
    ]


class _Page(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int), ("rules", _Rule * RULES)]


@dataclass(frozen=True)
class Rule:
    """The n-th of these calls by such a process on a path that holds `pattern` is struck; with `sticky` all later ones too.

    value  FAIL: errno. FLIP: chooses the bit. SIGNAL: its number. FULL: bytes that still fit.
    """

    calls: tuple[str, ...]
    action: int
    value: int = 0
    nth: int = 1
    roles: int = COMMAND | WORKER
    pattern: str = ""
    sticky: bool = False

    def __str__(self) -> str:
        what = {FAIL: errno.errorcode.get(self.value, str(self.value)), HALF: "half", FLIP: f"flip {self.value}",
                SIGNAL: f"signal {self.value}", FULL: f"{self.value} bytes of room", COUNT: "count"}[self.action]
        every = " and later" if self.sticky else ""
        return f"{'|'.join(self.calls)} {self.nth}{every} on {self.pattern or 'anything'}: {what}"


class Page:
    """The shared memory itself, in a file."""

    def __init__(self, path: Path) -> None:
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(fd, ctypes.sizeof(_Page))
        self._page = _Page.from_buffer(mmap.mmap(fd, ctypes.sizeof(_Page)))
        os.close(fd)

    def arm(self, *rules: Rule) -> None:
        """These rules hold from now on, and no others."""
        self.disarm()
        for place, rule in zip(self._page.rules, rules):  # noqa: B905 - there is room for more
            ctypes.memset(ctypes.addressof(place), 0, ctypes.sizeof(_Rule))
            place.roles, place.action, place.value, place.sticky = rule.roles, rule.action, rule.value, int(rule.sticky)
            place.calls = sum(1 << CALLS.index(call) for call in rule.calls)
            place.nth, place.pattern = rule.nth, os.fsencode(rule.pattern)[: PATTERN - 1]
            place.on = 1
        self._page.count = len(rules)

    def disarm(self) -> None:
        self._page.count = 0

    def stopped(self) -> bool:
        """Whether a process has stopped itself and was not yet told to go on."""
        return any(rule.struck for rule in self._stops())

    def forget_stops(self) -> None:
        for rule in self._stops():
            rule.action = COUNT

    def _stops(self) -> list[_Rule]:
        rules = self._page.rules[: self._page.count]
        return [rule for rule in rules if rule.action == SIGNAL and rule.value == signal.SIGSTOP]

    def seen(self, number: int = 0) -> int:
        """How many calls matched the rule."""
        return int(self._page.rules[number].seen)

    def struck(self, number: int = 0) -> int:
        return int(self._page.rules[number].struck)

    def used(self, number: int = 0) -> int:
        """FULL: bytes that were to be written."""
        return int(self._page.rules[number].used)

    def where(self, number: int = 0) -> str:
        return os.fsdecode(self._page.rules[number].where)


def build(folder: Path) -> Path:
    """The compiled shim. Raises CalledProcessError: there is no gcc."""
    library = folder / "soak-shim.so"
    subprocess.run(
        ["gcc", "-O2", "-Wall", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"],
        check=True, capture_output=True,
    )
    return library
