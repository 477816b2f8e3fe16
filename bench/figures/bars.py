"""What is to be reached, and whether it is: pure functions of what was measured.

A faster CPU is no reason to fail: where there is a bar in GB/s as well, either of the two will do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .state import Record

WHOLE_NODE_MEAN, WHOLE_NODE_LEAST = 4.0, 1.0  # of whole jobs against the CPU alone


@dataclass(frozen=True)
class Bar:
    """A GPU task against one core of the CPU: `speedup` at least, or `gigabytes` per second (0: no such way out)."""

    speedup: float
    gigabytes: float = 0.0

    @property
    def text(self) -> str:
        other = f" or {self.gigabytes:g} GB/s" if self.gigabytes else ""
        return f"at least {self.speedup:g} x{other}"

    def met(self, speedup: float, gigabytes: float) -> bool:
        return speedup >= self.speedup or 0 < self.gigabytes <= gigabytes


BARS: Mapping[str, Bar] = {
    "grep": Bar(20, 30), "histmovies": Bar(40, 20), "wordcount": Bar(200), "histratings": Bar(200),
    "linear_regression": Bar(60), "kmeans": Bar(100), "classification": Bar(100), "blackscholes": Bar(200),
}

STAGES: Mapping[str, tuple[str, ...]] = {  # as Fig. 6 has them -> names of the native runtime
    "read and copy": ("read", "copy_in"), "record count": ("index", "stage"), "map": ("map",), "sort": ("sort",),
    "combine": ("device_combine", "combine"), "output": ("gather", "copy_out", "write", "finish"),
}


def rate(record: Record) -> float:
    """Bytes per second."""
    return float(record["bytes"]) / float(record["seconds"])


def measured(record: Record | None) -> bool:
    return record is not None and "seconds" in record


def stages(record: Record) -> dict[str, float]:
    """Seconds of a task by Fig. 6's stages; "other" is what no stage accounts for, and never below 0."""
    found = record.get("stages", {})
    by_stage = {stage: sum(float(found.get(name, 0)) for name in names) for stage, names in STAGES.items()}
    return {**by_stage, "other": max(0.0, float(record["seconds"]) - sum(by_stage.values()))}


def bound(record: Record) -> str:
    """The stage that takes most of a task, and its share."""
    parts = stages(record)
    name = max(parts, key=lambda stage: parts[stage])
    return f"{name}, {100 * parts[name] / max(1e-12, sum(parts.values())):.0f} %"


def verdict(app: str, device: Record, core: Record) -> str:
    """"at least 200 x: met", with what bounds the task where it is not; "" for an app without a bar."""
    bar = BARS.get(app)
    if bar is None:
        return ""
    if bar.met(rate(device) / rate(core), rate(device) / 1e9):
        return f"{bar.text}: met"
    return f"{bar.text}: **not met**, bound by {bound(device)}"


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def whole_node(speedups: Mapping[str, float], wanted: Iterable[str]) -> list[str]:
    """Sentences: the geometric mean and the slowest app, against the bars; those not measured are named."""
    missing = [app for app in wanted if app not in speedups]
    if not speedups:
        return ["No whole job was measured."]
    of_bar = {app: s for app, s in speedups.items() if app in BARS}
    mean, slowest = geometric_mean(list(of_bar.values())), min(of_bar, key=lambda app: of_bar[app])
    rest = f" {', '.join(missing)} not measured: the mean is of {len(of_bar)} apps." if missing else ""
    reached = "met" if mean >= WHOLE_NODE_MEAN and not missing else "**not met**" if mean < WHOLE_NODE_MEAN else "met so far"
    least = "met" if of_bar[slowest] >= WHOLE_NODE_LEAST else "**not met**"
    return [
        f"Geometric mean of tail against the CPU alone: {mean:.2f} x (at least {WHOLE_NODE_MEAN:g} x: {reached}).{rest}",
        f"The least gain is {slowest}'s, {of_bar[slowest]:.2f} x (none below {WHOLE_NODE_LEAST:g} x: {least}).",
    ]


def digits(number: float) -> str:
    """Three digits that count, or all of those before the point."""
    return f"{number:.3g}" if number < 999.5 else f"{number:.0f}"
