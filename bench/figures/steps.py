"""What there is to measure, in which order, and how long each measurement is expected to take. Pure but for the state.

A measurement is known by its app, its part and its name; runner.py takes them part by part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heterodoop.compiler.decide.optimisations import chosen

from .. import app_inputs
from .options import Options
from .state import State

EIGHT = (
    "grep", "histmovies", "wordcount", "histratings", "linear_regression", "kmeans", "classification", "blackscholes",
)
PARTS = ("cpu", "task", "items", "long-line", "job")
LONG_LINE_APP = "histmovies"
INGEST_APP = "wordcount"
INGEST = "ingest "
GPUS = "-gpus-"
WHOLE_SET = "paper"
# Of one machine: plain filters and host kernels on CPU slots alone, policies with a GPU.
FILTERS, CPU_ONLY, GPU_FIRST, TAIL = "filters", "cpu-only", "gpu-first", "tail"
START_SECONDS = 3.0  # a child process: imports, the device's context, data where it is not there yet

# Expected seconds of what was not measured yet on any app; scaled by the seconds that a call asks for.
_PRIOR = {"cpu own": 2.0, "cpu native": 1.3, "task": 6.0, "items": 5.0, "long-line": 4.0, "job cpu": 1.6, "job gpu": 0.6}


@dataclass(frozen=True)
class Step:
    app: str
    part: str
    name: str

    @property
    def kind(self) -> str:
        """Measurements of one kind take about as long for all apps."""
        if self.part == "cpu":
            return f"cpu {self.name}"
        if self.part == "job":
            return "job cpu" if self.name.startswith((FILTERS, CPU_ONLY)) else "job gpu"
        return self.part


def steps(apps: Sequence[str], part: str, options: Options) -> list[Step]:
    """All measurements of a part, app by app."""
    return [Step(app, part, name) for app in apps for name in names(app, part, options) if wanted(name, options)]


def wanted(name: str, options: Options) -> bool:
    return not options.only or name in options.only or name.partition(" ")[0] in options.only


def names(app: str, part: str, options: Options) -> list[str]:
    if part == "cpu":
        return ["own", "native"]
    if part == "task":
        return ["default", "plain", WHOLE_SET, *(["texture"] if app_inputs.INPUTS[app].texture else [])]
    if part == "items":
        return [WHOLE_SET, *chosen(WHOLE_SET)]
    if part == "long-line":
        return ["without", "with"] if app == LONG_LINE_APP else []
    return _job_names(app, options)


def _job_names(app: str, options: Options) -> list[str]:
    ingest = [f"{INGEST}{n}" for n in options.ingest] if app == INGEST_APP else []
    contenders = [FILTERS, CPU_ONLY, *(f"{policy}{gpus_suffix(n)}" for n in options.gpus for policy in (GPU_FIRST, TAIL))]
    return [*ingest, *(f"{c} round-{n}" for n in range(1, options.rounds + 1) for c in contenders)]


def gpus_suffix(gpus: int) -> str:
    return "" if gpus == 1 else f"{GPUS}{gpus}"


def policy_of(contender: str) -> tuple[str, int]:
    """(policy, number of GPUs) of `tail`, `tail-gpus-2`, or a trial of reading threads, which has the default policy."""
    policy, _, rest = contender.partition(GPUS)
    return (TAIL if policy == INGEST.strip() else policy), int(rest or 1)


def pending(all_steps: Sequence[Step], state: State) -> list[Step]:
    """Those without a record; one that failed counts as done until it is asked for again (--redo)."""
    return [step for step in all_steps if step.name not in state.records(step.app, step.part)]


def prior(step: Step, options: Options) -> float:
    """Seconds that a measurement takes as far as the options tell."""
    unit = _PRIOR[step.kind]
    if step.part == "cpu":
        return options.seconds(options.cpu_seconds) * unit + 1
    if step.part == "job":
        return options.seconds(options.job_seconds) * unit + 3
    return unit


def expected(step: Step, options: Options, state: State) -> float:
    """Seconds: the longest that a measurement of this kind has taken so far, on this app or any other; else `prior`."""
    took = [float(record.get("took", 0)) for _, part, name, record in state.all((step.part,))
            if Step("", part, name).kind == step.kind]
    return max(took) if took else prior(step, options)
