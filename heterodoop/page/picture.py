"""A job's attempts on its slots as SVG, for papers: without stages, and for what does not count one colour."""

from __future__ import annotations

from ..scheduler.timeline import Bar, Chart, svg
from .attempts import Job

KINDS = {
    "device": ("#2a7f3f", "map task on a device"), "cpu": ("#7a9cc6", "map task on a CPU slot"),
    "reduce": ("#b279a2", "reduce task"), "lost": ("#c9cdd3", "attempt that does not count")}


def picture(job: Job) -> str:
    """One row for each slot, time to the right."""
    bars = []
    for bar in job.bars:
        side = "cpu" if job.rows[bar.row].kind == "CPU" else "device"
        kind = "lost" if bar.outcome != "succeeded" else "reduce" if bar.kind == "reduce" else side
        bars.append(Bar(bar.row, kind, bar.start, bar.end))
    title = f"{job.name}: {job.seconds:.2f} s, {len(bars)} attempts"
    return svg([Chart(title, tuple(row.name for row in job.rows), tuple(bars), job.seconds or 1.0, KINDS)])
