"""What a page shows of a job, as plain data: facts, tables, and attempts in columns, which a browser reads quickly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..job.settings import SETTINGS
from ..scheduler.price import Price
from . import verdict
from .attempts import Job, stages_of

_MICRO = 1e6
_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def of(job: Job, rent: Price | None = None) -> dict[str, Any]:
    """JSON for templates/page/page.js. Times in whole microseconds from the job's start."""
    found = verdict.of(job)
    return {
        "name": job.name, "state": job.report.get("state"), "sentence": found.sentence, "helps": list(found.helps),
        "seconds": job.seconds, "facts": [*_facts(job), *_cost(job, rent)],
        "slots": [{"name": row.name, "kind": row.kind, "seconds": row.seconds} for row in job.rows],
        "attempts": _columns(job), "meanings": {name: what for name, (what, _) in verdict.STAGES.items()},
        "tables": [{"title": title, "head": head, "rows": rows} for title, head, rows in _tables(job) if rows],
    }


def _columns(job: Job) -> dict[str, Any]:
    """One list per property; words by their number in `words`. Stages that no attempt has are left out."""
    words: dict[str, int] = {}
    stages: dict[str, list[int]] = {}
    keys = ("name", "row", "start", "length", "outcome", "ran", "file", "offset", "bytes")
    columns: dict[str, list[Any]] = {key: [] for key in keys}
    notes: dict[int, str] = {}
    for number, bar in enumerate(job.bars):
        outcome, ran, file = (words.setdefault(word, len(words)) for word in (bar.outcome, bar.ran, bar.file))
        values = (bar.name, bar.row, round(bar.start * _MICRO), round(bar.seconds * _MICRO), outcome, ran, file, bar.offset,
                  bar.input_bytes)
        for column, value in zip(columns.values(), values, strict=True):
            column.append(value)
        for stage, seconds in stages_of(bar).items():
            if stage not in stages:
                stages[stage] = [0] * len(job.bars)
            stages[stage][number] = round(seconds * _MICRO)
        if bar.note:
            notes[number] = bar.note
    return {**columns, "words": list(words), "stages": stages, "notes": notes}


def _facts(job: Job) -> Iterator[tuple[str, str]]:
    report = job.report
    seconds = report["seconds"]
    yield "seconds", f"{job.seconds:.2f}"
    for kind in ("map", "reduce"):
        if seconds.get(kind):
            yield f"of them {kind} tasks", f"{seconds[kind]:.2f}"
    size = report["job"].get("input_bytes")
    if size:
        yield "input", amount(size)
        yield "rate", f"{amount(size / job.seconds)}/s" if job.seconds else "-"
    for kind, tasks in report.get("tasks", {}).items():
        failed = f", {tasks['failed_attempts']} failed" if tasks.get("failed_attempts") else ""
        yield f"{kind} tasks", f"{tasks['done']} of {tasks['planned']}, {tasks['attempts']} attempts{failed}"
    where = report.get("device", {}).get("map_tasks", {})
    if where:
        yield "map tasks on", ", ".join(f"{count} {device}" for device, count in where.items() if count)
    if policy := report.get("map", {}).get("policy"):
        yield "policy", policy
    if speedup := report.get("map", {}).get("speedup"):
        yield "a GPU's speed", f"{speedup:.1f} CPU slots"


def _cost(job: Job, rent: Price | None) -> Iterator[tuple[str, str]]:
    """Its slots and GPUs for as long as it took. A GPU has several slots; where nobody says how many GPUs, none."""
    if rent:
        slots = sum(row.kind not in ("GPU", "emulated") for row in job.rows)
        yield "cost", f"{rent.of(slots, int(job.report.get('map', {}).get('gpus', 0)), job.seconds):.4g}"


def amount(size: float) -> str:
    """Bytes for people, as 1.5 GB."""
    number = 0
    while size >= 1000 and number < len(_UNITS) - 1:
        size, number = size / 1000, number + 1
    return f"{size:.3g} {_UNITS[number]}" if number else f"{size:.0f} B"


def _tables(job: Job) -> Iterator[tuple[str, list[str], list[list[Any]]]]:
    report = job.report
    yield "What went otherwise", ["what", "why"], list(_otherwise(report))
    for kind in ("map", "reduce"):
        stages = {name: value for name, value in report.get("stages", {}).get(kind, {}).items() if value}
        rows: list[list[Any]] = [[name, round(value, 3)] for name, value in stages.items()]
        yield f"Seconds of the {kind} tasks", ["stage", "seconds"], rows
    yield "Sides", ["side", "tasks", "bytes", "records", "pairs", "seconds", "bytes/s of a slot"], list(_sides(report))
    yield "Counters", ["counter", "value"], [[name, value] for name, value in report.get("counters", {}).items() if value]
    own = report.get("user_counters", {})
    yield "Counters of the programs", ["group", "counter", "value"], [
        [group, name, value] for group, counters in own.items() for name, value in counters.items()]
    changed = [[key, value, _default(key) or "-"] for key, value in report.get("settings", {}).items()
               if value != _default(key)]
    yield "Settings that differ from the defaults", ["setting", "value", "default"], changed


def _default(key: str) -> str:
    row = SETTINGS.get(key)
    return row.default if row else ""


def _sides(report: Mapping[str, Any]) -> Iterator[list[Any]]:
    for side in ("device", "cpu"):
        found = report.get("map", {}).get(side)
        if isinstance(found, dict) and found.get("tasks"):
            rate = found.get("gb_per_second_of_a_slot") or 0.0
            numbers = [found.get(key, 0) for key in ("tasks", "bytes", "records", "pairs")]
            yield [side, *numbers, round(found.get("seconds", 0.0), 3), f"{amount(rate * 1e9)}/s"]


def _otherwise(report: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Faults, retries, duplicates, and reasons why something did not run where it might have."""
    device, map_ = report.get("device", {}), report.get("map", {})
    if report.get("error"):
        yield ["the job failed", str(report["error"])]
    for failure in report.get("failures", []):
        yield [f"{failure.get('attempt', 'an attempt')} failed", str(failure.get("message", ""))]
    for reason in device.get("left_to_cpu", []):
        yield ["left to the CPU", _told(reason)]
    for reason in map_.get("left_to_filters", []):
        yield ["left to filters", _told(reason)]
    for key, what in (("worker_faults", "faults of GPU workers"), ("retries", "launches that were repeated"),
                      ("alone", "records done alone")):
        if device.get(key):
            yield [what, str(device[key])]
    for key, count in map_.get("duplicates", {}).items():
        if count:
            yield [f"second attempts of slow tasks that {key}", str(count)]
    for key, what in (("asleep", "no GPU was woken"),):
        if device.get(key):
            yield [what, str(device[key])]
    if (driver := device.get("driver")) and driver.get("why"):
        yield ["not by the driver", str(driver["why"])]
    for warning in report.get("warnings", []):
        yield ["warning", _told(warning)]


def _told(thing: Any) -> str:
    if isinstance(thing, dict):
        return ", ".join(f"{key} {value}" if not isinstance(value, str) else value for key, value in thing.items())
    return str(thing)
