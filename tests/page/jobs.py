"""Jobs as reports have them, made up. Not a test module."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from heterodoop.page.attempts import Bar, Job, Row

STARTED = 1_700_000_000.0


def job(bars: list[Bar], kinds: tuple[str, ...] = ("CPU", "CPU"), seconds: float = 0.0, **report: Any) -> Job:
    """Rows of these kinds; the report has the rest."""
    rows = tuple(Row(f"{kind} {number}", kind, sum(bar.seconds for bar in bars if bar.row == number))
                 for number, kind in enumerate(kinds))
    total = seconds or max((bar.end for bar in bars), default=0.0)
    return Job({"job": {"name": "a job"}, "state": "succeeded", "seconds": {"total": total}, **report}, rows, tuple(bars))


def bar(name: str, row: int, start: float, seconds: float, outcome: str = "succeeded", **more: Any) -> Bar:
    return Bar(name, row, start, seconds, outcome, more.pop("ran", "filters"), **more)


def folder(place: Path, attempts: int, *, slots: int = 20, name: str = "many") -> Path:
    """A report of `run` with so many attempts, in turns on its slots, a fifth of which are GPUs'."""
    rng = random.Random(1)
    free = [0.0] * slots
    totals = [0.0] * slots
    lines = []
    for number in range(attempts):
        slot = number % slots
        seconds = round(rng.uniform(0.01, 0.4), 6)
        kind = "gpu" if slot % 5 == 0 else "cpu"
        stages = {"read": seconds * 0.2, "map": seconds * 0.7} if kind == "gpu" else {"wait": seconds * 0.9}
        lines.append(json.dumps({
            "attempt": f"m_{number:06}_0", "slot": slot, "kind": kind, "outcome": "failed" if number == 7 else "succeeded",
            "started": STARTED + free[slot], "seconds": seconds, "stages": {**stages, "total": seconds, "task_cpu": seconds},
            "device": "cuda" if kind == "gpu" else "cpu",
            "split": {"file": "</script>&\udcff", "start": number, "length": 64},
            **({"message": "<b>no</b>", "code": "HD400"} if number == 7 else {}),
        }))
        free[slot] += seconds + 0.001
        totals[slot] += seconds
    place.mkdir()
    (place / "attempts.jsonl").write_text("\n".join(lines) + "\n")
    (place / "report.json").write_text(json.dumps({
        "format": "heterodoop-job-report-1", "state": "succeeded", "error": None, "started": STARTED,
        "job": {"name": name, "id": "job_1", "input_bytes": 64 * attempts},
        "seconds": {"total": max(free), "map": max(free)},
        "tasks": {"map": {"planned": attempts, "done": attempts, "attempts": attempts, "failed_attempts": 1}},
        "slots": [{"slot": slot, "kind": "gpu" if slot % 5 == 0 else "cpu", "seconds": total}
                  for slot, total in enumerate(totals)],
        "counters": {"MAP_INPUT_RECORDS": attempts}, "user_counters": {"<i>": {"x": 1}},
        "settings": {"mapreduce.map.maxattempts": "4", "mapreduce.task.io.sort.mb": "7"},
        "device": {"gpus": [{"name": "NVIDIA"}], "map_tasks": {"cuda": attempts}, "worker_faults": 2},
    }))
    return place
