"""The attempts that run now, and which of them a slot of the other kind could do sooner. Part of the state machine."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from .estimates import Estimates
from .model import Attempt, SlotKind, TaskId

FIRST_SECONDS = 1.0  # what the first task of a GPU is taken to need: it warms up


@dataclass(slots=True)
class Run:
    """`killed`: told to stop. `duplicate`: began while another attempt of its task ran."""

    started: float
    duplicate: bool = False
    killed: bool = False


class Running:
    """Running attempts by task; a task has two of them at most. `only_once`: tasks whose duplicate failed."""

    def __init__(self) -> None:
        self.only_once: set[TaskId] = set()
        self.on_gpus = 0  # map tasks on GPU slots, those included that were told to stop
        self._runs: dict[TaskId, dict[Attempt, Run]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._runs.values()))

    def __contains__(self, attempt: Attempt) -> bool:
        return attempt in self._runs.get(attempt.task, ())

    def __bool__(self) -> bool:
        return bool(self._runs)

    def attempts(self) -> list[Attempt]:
        return [attempt for runs in self._runs.values() for attempt in runs]

    def of(self, task: TaskId) -> list[tuple[Attempt, Run]]:
        return list(self._runs.get(task, {}).items())

    def killed(self, attempt: Attempt) -> bool:
        """Whether the attempt runs and was told to stop."""
        return attempt in self and self._runs[attempt.task][attempt].killed

    def wanted(self) -> set[TaskId]:
        """Tasks of the attempts that were not told to stop."""
        return {task for task, runs in self._runs.items() if not all(run.killed for run in runs.values())}

    def add(self, attempt: Attempt, run: Run) -> None:
        self._runs.setdefault(attempt.task, {})[attempt] = run
        self.on_gpus += attempt.slot.kind == "gpu"

    def remove(self, attempt: Attempt) -> Run:
        runs = self._runs[attempt.task]
        run = runs.pop(attempt)
        if not runs:
            del self._runs[attempt.task]
        self.on_gpus -= attempt.slot.kind == "gpu"
        return run

    def kill_all(self) -> list[Attempt]:
        """Tell all to stop; returns those that had not been told yet."""
        told = [(attempt, run) for runs in self._runs.values() for attempt, run in runs.items() if not run.killed]
        for _, run in told:
            run.killed = True
        return [attempt for attempt, _ in told]

    def on(self, kind: SlotKind, size: Callable[[int], int], now: float) -> list[tuple[int, float]]:
        """(bytes, seconds since it began) of every map task on a slot of this kind that was not told to stop."""
        return [
            (size(task.number), now - run.started) for task, runs in self._runs.items() for attempt, run in runs.items()
            if task.kind == "map" and attempt.slot.kind == kind and not run.killed
        ]

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
        assert self.on_gpus == sum(a.slot.kind == "gpu" for a in self.attempts()), "wrong count of GPU slots in use"
        for task, runs in self._runs.items():
            assert 1 <= len(runs) <= 2, f"{task} runs {len(runs)} times"
            if len(runs) == 2:
                (first, one), (second, two) = runs.items()
                assert (one.duplicate, two.duplicate) == (False, True), f"{task} runs twice, and not as a duplicate"
                assert first.slot.kind != second.slot.kind, f"{task} was duplicated on slots of one kind"
                assert first.number < second.number, f"{task}: numbers of attempts in the wrong order"
