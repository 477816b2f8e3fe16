"""A job's report as it lies in OUT.report, and its attempts as values that pages and pictures are made of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..job.report import ATTEMPTS, FORMAT, REPORT

SECONDS_OF_A_PROCESSOR = ("filter_cpu", "combine_cpu", "task_cpu")  # beside the wall-clock time of the others
TOTAL = "total"
EMULATED = "emulated"


@dataclass(frozen=True)
class Bar:
    """An attempt. `start`: seconds after the job's; `row`: of the slots; `file`, `offset`, `input_bytes`: its split."""

    name: str
    row: int
    start: float
    seconds: float
    outcome: str
    ran: str
    file: str = ""
    offset: int = 0
    input_bytes: int = 0
    note: str = ""
    stages: Mapping[str, float] = field(default_factory=dict)

    @property
    def end(self) -> float:
        return self.start + self.seconds

    @property
    def kind(self) -> str:
        return "map" if self.name.startswith("m_") else "reduce"


@dataclass(frozen=True)
class Row:
    """A slot, or what stands for one. `kind`: CPU, GPU, emulated. `seconds`: of its attempts, as the report has it."""

    name: str
    kind: str
    seconds: float


@dataclass(frozen=True)
class Job:
    """What a page shows. `report`: as in report.json, or as much of it as is known."""

    report: Mapping[str, Any]
    rows: tuple[Row, ...]
    bars: tuple[Bar, ...]

    @property
    def name(self) -> str:
        return str(self.report["job"]["name"])

    @cached_property
    def seconds(self) -> float:
        """From the job's start to its end, at least to that of its last attempt."""
        return max([float(self.report["seconds"]["total"]), *(bar.end for bar in self.bars)])


def of_folder(folder: Path) -> Job:
    """The report that `heterodoop run` wrote to OUT.report. Raises UsageError HD060."""
    try:
        report = json.loads((folder / REPORT).read_bytes())
        lines = (folder / ATTEMPTS).read_bytes().splitlines()
        if not isinstance(report, dict) or report.get("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        started = float(report["started"])
        rows = tuple(_rows(report["slots"], _device(report)))
        bars = tuple(_bar(json.loads(line), started) for line in lines if line.strip())
        job = Job(report, rows, bars)
        if any(not 0 <= bar.row < len(rows) for bar in bars):
            raise ValueError("an attempt is on a slot that the report does not have")
        if not (job.name and job.seconds >= 0):
            raise ValueError("it has no name")
        return job
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(
            f"{str(folder)!r} is not the report of a job that has ended: {_why(error)}", code="HD060",
            help="name the folder OUTPUT.report that `heterodoop run -o OUTPUT` made",
        ) from None


def _why(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{Path(str(error.filename)).name}: {error.strerror}"
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)


def _device(report: dict[str, Any]) -> str:
    """What slots for GPUs are called: the emulated device is none."""
    names = {str(gpu.get("name")) for gpu in report.get("device", {}).get("gpus", [])}
    return EMULATED if names == {EMULATED} else "GPU"


def _rows(slots: list[dict[str, Any]], device: str) -> Iterator[Row]:
    """CPU slots and sessions of devices, numbered from 1 within their kind."""
    numbers: dict[str, int] = {}
    for slot in slots:
        kind = device if slot["kind"] == "gpu" else "CPU"
        numbers[kind] = numbers.get(kind, 0) + 1
        yield Row(f"{kind} {numbers[kind]}", kind, float(slot["seconds"]))


def _bar(row: dict[str, Any], started: float) -> Bar:
    split = row.get("split") or {}
    notes = [str(row[key]) for key in ("reason", "left", "code", "message", "status") if row.get(key)]
    ran = str(row.get("ran") or row.get("device") or "")
    return Bar(
        str(row["attempt"]), int(row["slot"]), max(0.0, float(row["started"]) - started), float(row["seconds"]),
        str(row["outcome"]), ran, str(split.get("file", "")), int(split.get("start", 0)), int(split.get("length", 0)),
        "; ".join(notes),
        {name: float(seconds) for name, seconds in row.get("stages", {}).items() if seconds},
    )


def stages_of(bar: Bar) -> dict[str, float]:
    """The wall-clock seconds of an attempt by what it did, in the order in which the report has them."""
    return {name: seconds for name, seconds in bar.stages.items() if name not in (*SECONDS_OF_A_PROCESSOR, TOTAL)}
