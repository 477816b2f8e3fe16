"""The attempts that run now, and which of them a slot of the other kind could do sooner. Part of the state machine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .estimates import Estimates
from .model import Attempt, SlotKind, TaskId
from .several import left, size_of

FIRST_SECONDS = 1.0  # what the first task of a GPU is taken to need: it warms up


@dataclass(slots=True)
class Run:
    """`killed`: told to stop. `duplicate`: began while another attempt of its task ran."""

    started: float
    duplicate: bool = False
    killed: bool = False


class Running:
    """Running attempts by task; a task has two of them at most. `only_once`: tasks whose duplicate failed.

    Attempts of several splits are apart: their tasks run nowhere else as long as they were not told to stop.
    """

    def __init__(self) -> None:
        self.only_once: set[TaskId] = set()
        self._runs: dict[TaskId, dict[Attempt, Run]] = {}
        self._several: dict[Attempt, Run] = {}

    def __len__(self) -> int:
        return sum(map(len, self._runs.values())) + len(self._several)

    def __contains__(self, attempt: Attempt) -> bool:
        return attempt in self._runs.get(attempt.task, ()) or attempt in self._several

    def __bool__(self) -> bool:
        return bool(self._runs or self._several)

    def __iter__(self) -> Iterator[tuple[Attempt, Run]]:
        for runs in self._runs.values():
            yield from runs.items()
        yield from self._several.items()

    def attempts(self) -> list[Attempt]:
        return [attempt for attempt, _ in self]

    def of(self, task: TaskId) -> list[tuple[Attempt, Run]]:
        """Those of this task alone."""
        return list(self._runs.get(task, {}).items())

    def runs(self, task: TaskId) -> bool:
        """Whether any attempt has it."""
        return task in self._runs or any(task in attempt.tasks for attempt in self._several)

    def several(self, now: float) -> list[tuple[Attempt, float]]:
        """Those of several splits on GPU slots that were not told to stop, and the seconds since each began."""
        return [(attempt, now - run.started) for attempt, run in self._several.items()
                if attempt.slot.kind == "gpu" and not run.killed]

    def on_gpus(self, estimates: Estimates, size: Callable[[int], int], now: float) -> int:
        """Map tasks on GPU slots, those included that were told to stop; of several in one what is expected to be left."""
        return sum(left(attempt, now - run.started, size, estimates) for attempt, run in self if attempt.slot.kind == "gpu")

    def killed(self, attempt: Attempt) -> bool:
        """Whether the attempt runs and was told to stop."""
        return attempt in self and self._of(attempt)[attempt].killed

    def kill(self, attempt: Attempt) -> None:
        """It is told to stop."""
        self._of(attempt)[attempt].killed = True

    def wanted(self) -> set[TaskId]:
        """Tasks of the attempts that were not told to stop."""
        return {task for attempt, run in self if not run.killed for task in attempt.tasks}

    def add(self, attempt: Attempt, run: Run) -> None:
        if attempt.splits > 1:
            self._several[attempt] = run
        else:
            self._runs.setdefault(attempt.task, {})[attempt] = run

    def remove(self, attempt: Attempt) -> Run:
        runs = self._of(attempt)
        run = runs.pop(attempt)
        if not self._runs.get(attempt.task, True):
            del self._runs[attempt.task]
        return run

    def kill_all(self) -> list[Attempt]:
        """Tell all to stop; returns those that had not been told yet."""
        told = [(attempt, run) for attempt, run in self if not run.killed]
        for _, run in told:
            run.killed = True
        return [attempt for attempt, _ in told]

    def on(self, kind: SlotKind, size: Callable[[int], int], now: float) -> list[tuple[int, float]]:
        """(bytes, seconds since it began) of every map attempt on a slot of this kind that was not told to stop.

        One of several splits that was told is late, and says so until its slot is free.
        """
        return [
            (size_of(attempt, size), now - run.started) for attempt, run in self
            if attempt.task.kind == "map" and attempt.slot.kind == kind and (attempt.splits > 1 or not run.killed)
        ]

    def _of(self, attempt: Attempt) -> dict[Attempt, Run]:
        """Where it is kept."""
        return self._several if attempt.splits > 1 else self._runs[attempt.task]

    def slowest(self, by: SlotKind, estimates: Estimates, size: Callable[[int], int], now: float) -> TaskId | None:
        """The map task on a slot of the other kind that a slot of kind `by` would end soonest before it; None: it would end
        none sooner."""
        gains = [(gain, task) for task in self._runs if (gain := self._gain(by, task, estimates, size, now)) > 0]
        return max(gains)[1] if gains else None

    def _gain(
        self, by: SlotKind, task: TaskId, estimates: Estimates, size: Callable[[int], int], now: float,
    ) -> float:
        """Seconds that a duplicate on a slot of kind `by` is expected to save; 0 where there can be none.

        What a slot still needs is what its task is expected to take less what it has taken. One that takes longer than
        expected (or a CPU slot of which nothing is known) is expected to need as long again as it is late. A GPU of which
        nothing is known may never end, and a CPU slot that has nothing left to do costs nothing.
        """
        ((attempt, run), *others) = self._runs[task].items()
        once = others or run.duplicate or task in self.only_once
        if once or run.killed or task.kind == "reduce" or attempt.slot.kind == by:
            return 0.0
        on_gpu, on_cpu = (estimates.seconds(kind, size(task.number)) for kind in ("gpu", "cpu"))
        elapsed = now - run.started
        if by == "gpu":
            return abs((on_cpu or 0.0) - elapsed) - (FIRST_SECONDS if on_gpu is None else on_gpu)
        if on_gpu is None:
            return math.inf
        return 0.0 if on_cpu is None else abs(on_gpu - elapsed) - on_cpu

    def check(self) -> None:
        """Invariants, for tests."""
        apart = [task for attempt, run in self._several.items() if not run.killed for task in attempt.tasks]
        assert len(set(apart)) == len(apart) and not self._runs.keys() & set(apart), "a task of several runs elsewhere, too"
        assert all(attempt.task.kind == "map" for attempt in self._several), "several reduce tasks in one"
        for task, runs in self._runs.items():
            assert 1 <= len(runs) <= 2, f"{task} runs {len(runs)} times"
            if len(runs) == 2:
                (first, one), (second, two) = runs.items()
                assert (one.duplicate, two.duplicate) == (False, True), f"{task} runs twice, and not as a duplicate"
                assert first.slot.kind != second.slot.kind, f"{task} was duplicated on slots of one kind"
                assert first.number < second.number, f"{task}: numbers of attempts in the wrong order"
