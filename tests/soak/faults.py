"""What can happen to a run, and the random choice of it: everything follows from a case's seed and a lane's counts of calls.

A case is a job on a device, and one or several faults of one family. Families: `kill` signals that end, `stop` signals that
hold and go on, `disk` a full one, `call` a system call that fails or does half, `damage` a byte on its way to or from the
disk or at rest. Faults of drivers are in driver_faults.py.
"""

from __future__ import annotations

import errno
import random
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from . import jobs, page
from .page import COMMAND, FAIL, FLIP, FULL, HALF, SIGNAL, WORKER, Rule
from .processes import Strike

FAMILIES = {"kill": 30, "stop": 8, "disk": 12, "call": 34, "damage": 16, "driver": 20}
DEVICES: Mapping[str, tuple[str, ...]] = {
    "cpu": ("--device", "cpu"),
    "filters": ("--device", "cpu", "--filters"),
    "emulated": ("--device", "emulated"),
    "worker": ("--device", "emulated", "-D", "heterodoop.emulated.workers=1"),
    "cuda": ("--device", "cuda", "--policy", "gpu-only"),
}
AT_REST = ("flip", "cut", "zero", "empty", "remove", "longer", "fifo", "folder")


class Place(NamedTuple):
    """A kind of call on a kind of file, and what can go wrong with it. `weight`: how often it is chosen."""

    call: str
    pattern: str
    weight: int = 1


ERRORS: Mapping[str, Sequence[int]] = {
    "read": (errno.EIO, errno.EINTR, errno.ENOMEM),
    "write": (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EINTR, errno.EPIPE),
    "open": (errno.EMFILE, errno.ENFILE, errno.EIO, errno.ENOMEM, errno.EACCES),
    "create": (errno.ENOSPC, errno.EMFILE, errno.EROFS, errno.EDQUOT), "rename": (errno.EIO, errno.ENOSPC),
    "unlink": (errno.EIO, errno.EBUSY), "rmdir": (errno.EIO, errno.EBUSY), "mkdir": (errno.ENOSPC, errno.EIO, errno.EROFS),
    "fsync": (errno.EIO, errno.ENOSPC), "truncate": (errno.ENOSPC, errno.EIO), "mmap": (errno.ENOMEM,),
    "fork": (errno.EAGAIN, errno.ENOMEM), "exec": (errno.EAGAIN, errno.ENOMEM, errno.EMFILE), "thread": (errno.EAGAIN,),
    "pipe": (errno.EMFILE, errno.ENFILE), "link": (errno.ENOSPC,), "list": (errno.EMFILE, errno.EIO),
    "close": (errno.EIO, errno.ENOSPC), "send": (errno.EPIPE, errno.ENOBUFS, errno.EINTR),
    "receive": (errno.ECONNRESET, errno.EINTR), "socket": (errno.EMFILE,), "memory": (errno.ENOMEM,),
}
_ON_FILES = ("read", "write", "open", "create", "rename", "unlink", "mkdir", "rmdir", "fsync", "truncate", "mmap", "link",
             "list", "close")
_FILES = ("/out/_temporary", "/out/", "/out.report", "/cache/", "/in/", "/bundles/", "/tmp/")
_ANYWHERE = ("fork", "exec", "thread", "pipe", "socket", "memory")
PLACES = (
    *(Place(call, pattern) for call in _ON_FILES for pattern in _FILES),
    *(Place(call, "pipe:") for call in ("read", "write", "close")),
    *(Place(call, "socket:") for call in ("send", "receive", "close")),
    *(Place(call, "", 2) for call in _ANYWHERE),
)
_NOT_A_FAULT = (errno.EPIPE, "pipe:")  # a filter that does not read all of its input, as is its right
CHECKED = ("/spill", "/maps/", "/merge-", "/cache/", "/bundles/")  # files whose bytes are held against something when read


@dataclass(frozen=True)
class Damage:
    """A file that has been changed between two runs. where: bundles or cache; how: of AT_REST; value: chooses both."""

    where: str
    how: str
    value: int


@dataclass(frozen=True)
class Case:
    """What follows from a seed.

    fresh  the interpreter is started anew too.  heal  run again without a fault even where the first run ended well.
    room   bytes left on the small file system that the output lies on; None: it does not.
    """

    seed: int
    family: str
    job: str
    device: str
    fresh: bool = False
    heal: bool = False
    rules: tuple[Rule, ...] = ()
    strikes: tuple[Strike, ...] = ()
    damage: tuple[Damage, ...] = ()
    room: int | None = None

    def faults(self) -> list[str]:
        """All of them in words."""
        strikes = [f"{signal.Signals(s.signal).name} to {s.target} {s.which} after {s.at:.3f} s" for s in self.strikes]
        rests = [f"{d.how} in {d.where} ({d.value})" for d in self.damage]
        disk = [] if self.room is None else [f"{self.room} bytes of room"]
        return [*map(str, self.rules), *strikes, *rests, *disk]


@dataclass(frozen=True)
class Normal:
    """What a run of a job on a device does without a fault. calls: how many of each kind; written: bytes."""

    seconds: float
    calls: Mapping[Place, int]
    written: int


@dataclass(frozen=True)
class Choice:
    """What cases are made of on this machine. normal: asked for the job and the device that were chosen."""

    devices: tuple[str, ...]
    families: Mapping[str, int]
    can_mount: bool
    normal: Callable[[str, str], Normal]

    def family(self, seed: int) -> str:
        return self._family(random.Random(seed))

    def _family(self, rnd: random.Random) -> str:
        return rnd.choices(list(self.families), list(self.families.values()))[0]

    def case(self, seed: int) -> Case:
        """Of any family but `driver`."""
        rnd = random.Random(seed)
        family = self._family(rnd)
        job, device = rnd.choice(jobs.NAMES), rnd.choice(self.devices)
        normal = self.normal(job, device)
        fresh = rnd.random() < 0.05
        begin = Case(seed, family, job, device, fresh, rnd.random() < 0.2)
        return _MAKERS[family](begin, rnd, normal, self)


def _kill(case: Case, rnd: random.Random, normal: Normal, choice: Choice) -> Case:
    number = rnd.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    if rnd.random() < 0.4:
        return _with(case, rules=(_signal_at_call(rnd, normal, number),))
    target = rnd.choice(["command", "command", "filter", "filter", *(["worker"] * 2 if _has_worker(case) else []), "group"])
    if target in ("filter", "worker"):
        number = rnd.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
    times = rnd.choice([1, 2, 3]) if target != "command" else rnd.choice([1, 1, 2])
    late = _latest(case, normal)
    strikes = [Strike(rnd.uniform(0, late), target, number, rnd.randrange(8)) for _ in range(times)]
    return _with(case, strikes=tuple(strikes))


def _stop(case: Case, rnd: random.Random, normal: Normal, choice: Choice) -> Case:
    if rnd.random() < 0.5:
        return _with(case, rules=(_signal_at_call(rnd, normal, signal.SIGSTOP),))
    target = rnd.choice(["command", "filter", "group", *(["worker"] if _has_worker(case) else [])])
    return _with(case, strikes=(Strike(rnd.uniform(0, _latest(case, normal)), target, signal.SIGSTOP, rnd.randrange(8)),))


def _disk(case: Case, rnd: random.Random, normal: Normal, choice: Choice) -> Case:
    if choice.can_mount and rnd.random() < 0.5:
        return _with(case, room=rnd.randrange(0, 60 << 10))
    rule = Rule(page.TAKES_ROOM, FULL, rnd.randrange(int(normal.written * 1.1) + 1), pattern=rnd.choice(
        ["/out", "/out", "/out.report", "/cache/"]))
    return _with(case, rules=(rule,))


def _call(case: Case, rnd: random.Random, normal: Normal, choice: Choice) -> Case:
    rules = tuple(_failing(rnd, normal) for _ in range(rnd.choice([1, 1, 1, 2])))
    return _with(case, rules=rules)


def _damage(case: Case, rnd: random.Random, normal: Normal, choice: Choice) -> Case:
    if rnd.random() < 0.3:
        where = rnd.choice(["bundles", "cache"] if case.device not in ("cpu", "filters") else ["bundles"])
        return _with(case, damage=(Damage(where, rnd.choice(AT_REST), rnd.randrange(1 << 30)),), heal=True)
    places = [place for place in normal.calls if place.call in ("read", "write") and place.pattern in CHECKED]
    if not places:
        return _with(case, damage=(Damage("bundles", "flip", rnd.randrange(1 << 30)),), heal=True)
    place = rnd.choice(places)
    return _with(case, rules=(_rule(rnd, place, normal, FLIP, rnd.randrange(1 << 30)),))


_MAKERS = {"kill": _kill, "stop": _stop, "disk": _disk, "call": _call, "damage": _damage}


def _with(case: Case, **change: object) -> Case:
    return Case(**{**case.__dict__, **change})


def _has_worker(case: Case) -> bool:
    return case.device in ("worker", "cuda")


def _latest(case: Case, normal: Normal) -> float:
    return normal.seconds + (0.2 if case.fresh else 0.0)


def _rule(rnd: random.Random, place: Place, normal: Normal, action: int, value: int) -> Rule:
    nth = 1 + int(rnd.random() * normal.calls[place])
    return Rule((place.call,), action, value, nth, COMMAND | WORKER, place.pattern)


def _signal_at_call(rnd: random.Random, normal: Normal, number: int) -> Rule:
    return _rule(rnd, _place(rnd, normal), normal, SIGNAL, number)


def _failing(rnd: random.Random, normal: Normal) -> Rule:
    place = _place(rnd, normal)
    return failing(rnd, place, normal.calls[place])


def failing(rnd: random.Random, place: Place, count: int) -> Rule:
    """One of `count` calls at a place fails, or does half; it alone, or all later ones too."""
    nth, rest = 1 + int(rnd.random() * count), rnd.random() < 0.25
    if place.call in ("read", "write", "send", "receive") and rnd.random() < 0.3:
        return Rule((place.call,), HALF, 0, nth, pattern=place.pattern, sticky=rest)
    value = rnd.choice([number for number in ERRORS[place.call] if (number, place.pattern) != _NOT_A_FAULT])
    return Rule((place.call,), FAIL, value, nth, pattern=place.pattern, sticky=rest and value != errno.EINTR)


def hinders(rule: Rule) -> bool:
    """Whether a process under it cannot be asked to remove its files: it is not let."""
    return rule.sticky or bool(set(rule.calls) & {"unlink", "rmdir", "list"})


def _place(rnd: random.Random, normal: Normal) -> Place:
    places = [place for place in normal.calls if place.call in ERRORS]
    return rnd.choices(places, [place.weight for place in places])[0]
