"""What an executor says of one attempt, whatever ran it: the same type for CPU and GPU. And sums over attempts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from typing import NamedTuple

from ...values import dataclass
from .map_output import MapOutput


class Crash(NamedTuple):
    """How a filter failed: by which signal (0: with an exit status), after how many bytes of its stdin at most, on which
    record of that (from 1; 0: not known). combiner: it was a map task's combiner, whose runs count as one."""

    signal: int
    read: int
    record: int
    combiner: bool = False


class TaskFailure(NamedTuple):
    """Why an attempt failed.

    message    one sentence, with the program's name and its exit status or signal where a filter failed.
    code       HD4xx.
    permanent  another attempt cannot end otherwise.
    stderr     the last lines that the filters wrote there.
    crash      of a filter that failed itself.
    """

    message: str
    code: str
    permanent: bool = False
    stderr: str = ""
    crash: Crash | None = None


@dataclass(frozen=True)
class AttemptResult:
    """How one attempt ended.

    failure        None where it succeeded.
    cancelled      it was told to stop, and did: neither succeeded nor failed.
    output         a map task's IFile; None where the result is text in the task's output folder.
    counters       Hadoop's task counters by name.
    user_counters  (group, counter) -> sum of the `reporter:counter:` lines.
    seconds        stage -> seconds.
    runs           1; 2 where the task ran again without its fold, inside the attempt.
    device         what ran the map: "cpu", or the device's name.
    reason         why the CPU ran a map task that was meant for a device; "" where that is not so.
    retried        why the device ran the task twice: the first time it failed itself; "" where that is not so.
    host           what ran the map was a host kernel (host_kernel.py).
    left           why filters ran a map task that was meant for a host kernel; "" where that is not so.
    device_failed  that was because the device itself failed, or a kernel did what none may do (a wild pointer).
    lost           of a failed reduce attempt: map tasks whose output is damaged, which made it fail.
    """

    failure: TaskFailure | None = None
    cancelled: bool = False
    output: MapOutput | None = None
    counters: Mapping[str, int] = field(default_factory=dict)
    user_counters: Mapping[tuple[str, str], int] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    status_text: str = ""
    runs: int = 1
    device: str = "cpu"
    reason: str = ""
    retried: str = ""
    host: bool = False
    left: str = ""
    device_failed: bool = False
    lost: tuple[int, ...] = ()


@dataclass
class Totals:
    """Sums over the attempts that succeeded, as a job's counters are in Hadoop."""

    counters: Counter[str] = field(default_factory=Counter)
    user_counters: Counter[tuple[str, str]] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)

    def add(self, result: AttemptResult) -> None:
        self.counters.update(result.counters)
        self.user_counters.update(result.user_counters)
        for stage, seconds in result.seconds.items():
            self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds
