"""An ended job of a cluster as a page shows it: from the JobHistory server's list of tasks, and of their attempts where the
job has few. Hadoop's slots have no names: attempts that ran at a time lie on rows of their node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...driver.cluster.yarn_rest import Unknown, many, one
from ...errors import UsageError
from ...page.attempts import Bar, Job, Row
from ...scheduler.timeline import lanes
from .plugin_counters import Counters
from .rest import ClusterClient

MOST_TASKS = 1000  # whose attempts are asked for one by one; of a larger job the tasks are the bars
LAG_SECONDS = 10.0  # the JobHistory server learns a little later that a job is over
ANYWHERE = "task"  # a row where nobody says which node it was
_STATES = {"SUCCEEDED": "succeeded", "KILLED": "cancelled", "FAILED": "failed"}
_HADOOPS = ("org.apache.hadoop.", "Shuffle Errors", "File ")
_PHASES = {"elapsedShuffleTime": "shuffle", "elapsedMergeTime": "merge", "elapsedReduceTime": "reduce"}


def of_job(cluster: ClusterClient, job: str) -> Job:
    """Raises UsageError HD640: no JobHistory server has it, so it is not over, or nobody keeps it."""
    try:
        detail = cluster.history_of(job, LAG_SECONDS)
        if not detail:
            raise Unknown("it may not be over")
        tasks = many((one(cluster.past(job, "/tasks").get("tasks")) or {}).get("task"))
        counters = cluster.counters(job)
        bars = list(_attempts(cluster, job, tasks)) if len(tasks) <= MOST_TASKS else list(map(_task, tasks))
    except Unknown as error:
        raise UsageError(
            f"the JobHistory server has no {job}: {error}", code="HD640",
            help="a job that is not over has no page yet: `heterodoop job status`",
        ) from None
    first = _number(detail, "submitTime") or _number(detail, "startTime")
    rows, placed = _on_rows([(node, bar) for node, bar in bars if bar.seconds > 0], first / 1000)
    return Job(_report(detail, tasks, placed, counters), rows, placed)


def _attempts(cluster: ClusterClient, job: str, tasks: list[dict[str, Any]]) -> Iterator[tuple[str, Bar]]:
    for task in tasks:
        listed = one(cluster.past(job, f"/tasks/{task.get('id')}/attempts").get("taskAttempts")) or {}
        for attempt in many(listed.get("taskAttempt")):
            node, bar = _task(attempt)
            phases = {name: _number(attempt, key) / 1000 for key, name in _PHASES.items() if _number(attempt, key) > 0}
            note = "; ".join(filter(None, (str(attempt.get("status") or ""), str(attempt.get("diagnostics") or "").strip())))
            host = str(attempt.get("nodeHttpAddress") or "").partition(":")[0]
            yield host or node, replace(bar, note=note, stages=phases)


def _task(found: Mapping[str, Any]) -> tuple[str, Bar]:
    """A task, or an attempt of one: where it ran and what is known of it; `start` in seconds of the epoch."""
    start, finish = _number(found, "startTime"), _number(found, "finishTime")
    name = str(found.get("id", "")).split("_", 3)[-1]  # m_000001, or m_000001_0
    state = str(found.get("state") or "")
    ran = str(found.get("type") or "").lower()
    return ANYWHERE, Bar(name, 0, start / 1000, max(0, finish - start) / 1000, _STATES.get(state, state.lower()), ran)


def _number(found: Mapping[str, Any], key: str) -> float:
    """Milliseconds; Hadoop says -1 where it has none."""
    return max(0.0, float(found.get(key) or 0))


def _on_rows(bars: list[tuple[str, Bar]], first: float) -> tuple[tuple[Row, ...], tuple[Bar, ...]]:
    """Each attempt on the lowest row of its node that is free, times from the job's beginning."""
    of_node: dict[str, list[Bar]] = {}
    for node, bar in bars:
        of_node.setdefault(node, []).append(bar)
    names: list[str] = []
    seconds: list[float] = []
    placed: list[Bar] = []
    for node, found in sorted(of_node.items()):
        before = len(names)
        for lane, number in lanes((bar.start, bar.end, number) for number, bar in enumerate(found)):
            row, bar = before + lane, found[number]
            if row == len(names):
                names.append(f"{node} {lane + 1}")
                seconds.append(0.0)
            seconds[row] += bar.seconds
            placed.append(replace(bar, row=row, start=max(0.0, bar.start - first)))
    rows = tuple(Row(name, "container", total) for name, total in zip(names, seconds, strict=True))
    return rows, tuple(placed)


def _report(
    detail: Mapping[str, Any], tasks: list[dict[str, Any]], bars: tuple[Bar, ...], counters: Counters,
) -> dict[str, Any]:
    """As much of a report as Hadoop has."""
    state = str(detail.get("state"))
    first = _number(detail, "submitTime") or _number(detail, "startTime")
    told = [text for text in str(detail.get("diagnostics") or "").splitlines() if text.strip()]
    kinds = {"map": ("MAP", "mapsTotal", "mapsCompleted"), "reduce": ("REDUCE", "reducesTotal", "reducesCompleted")}
    return {
        "job": {"name": str(detail.get("name") or detail.get("id")), "id": str(detail.get("id"))},
        "state": "succeeded" if state == "SUCCEEDED" else state.lower(), "error": told[0] if told else None,
        "seconds": {"total": max(0.0, _number(detail, "finishTime") - first) / 1000},
        "tasks": {
            kind: {
                "planned": int(detail.get(total) or 0), "done": int(detail.get(done) or 0),
                "attempts": sum(bar.kind == kind for bar in bars),
                "failed_attempts": sum(bar.kind == kind and bar.outcome == "failed" for bar in bars),
            } for kind, (_, total, done) in kinds.items() if any(task.get("type") == kind.upper() for task in tasks)
        },
        "counters": {name: value for group, values in counters.items() if group.startswith(_HADOOPS)
                     for name, value in values.items()},
        "user_counters": {group: values for group, values in counters.items() if not group.startswith(_HADOOPS)},
    }
