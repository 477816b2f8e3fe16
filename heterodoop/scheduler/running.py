"""The attempts that run now, and which of them a GPU could do sooner. Part of the state machine (machine.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .estimates import Estimates
from .model import Attempt, TaskId

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

    def slowest(self, estimates: Estimates, size: Callable[[int], int], now: float) -> TaskId | None:
        """The map task on a CPU slot that a GPU slot would end soonest before it; None where it would end none sooner."""
        gains = [(gain, task) for task in self._runs if (gain := self._gain(task, estimates, size, now)) > 0]
        return max(gains)[1] if gains else None

    def _gain(self, task: TaskId, estimates: Estimates, size: Callable[[int], int], now: float) -> float:
        """Seconds that a duplicate on a GPU slot is expected to save; 0 where there can be none.

        What a CPU slot still needs is what its task is expected to take less what it has taken. One that takes longer than
        expected (or of which nothing is known) is expected to need as long again as it is late.
        """
        ((attempt, run), *others) = self._runs[task].items()
        if others or run.killed or task.kind == "reduce" or attempt.slot.kind == "gpu" or task in self.only_once:
            return 0.0
        on_gpu = estimates.seconds("gpu", size(task.number))
        on_cpu = estimates.seconds("cpu", size(task.number)) or 0.0
        return abs(on_cpu - (now - run.started)) - (FIRST_SECONDS if on_gpu is None else on_gpu)

    def check(self) -> None:
        """Invariants, for tests."""
        assert self.on_gpus == sum(a.slot.kind == "gpu" for a in self.attempts()), "wrong count of GPU slots in use"
        for task, runs in self._runs.items():
            assert 1 <= len(runs) <= 2, f"{task} runs {len(runs)} times"
            if len(runs) == 2:
                (first, one), (second, two) = runs.items()
                assert (one.duplicate, two.duplicate) == (False, True), f"{task} runs twice, and not as a duplicate"
                assert (first.slot.kind, second.slot.kind) == ("cpu", "gpu"), f"{task} was duplicated on the wrong slots"
                assert first.number < second.number, f"{task}: numbers of attempts in the wrong order"
