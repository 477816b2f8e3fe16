"""Jobs of a cluster, for `heterodoop job`: list, status, kill, logs, counters.

Not here: submitting (`submission`) and why a job failed (`logs`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...driver.cluster.yarn_rest import Unknown, one
from ...errors import UsageError
from ...storage.hadoop_conf import HadoopConf
from . import killing, logs, plugin_counters
from .plugin_counters import CPU_MAPS, GPU_MAPS, Counters
from .rest import App, ClusterClient, TaskAttempt

LIVE = ("NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING")
LOG_NAMES = ("stdout", "stderr", "syslog")


class JobStatus(NamedTuple):
    """A job and how far it is. `on_gpus`, `on_cpus`: None where the plug-in said nothing; `sides`: the same in words."""

    job: str
    name: str
    user: str
    state: str
    maps_done: int
    maps: int
    reduces_done: int
    reduces: int
    failed_attempts: int
    on_gpus: int | None
    on_cpus: int | None
    diagnostics: str
    url: str
    sides: str = ""

    def __str__(self) -> str:
        text = f"{self.job} {self.state}: map {self.maps_done}/{self.maps}"
        if self.sides:
            text += f" ({self.sides})"
        if self.reduces:
            text += f", reduce {self.reduces_done}/{self.reduces}"
        return text + (f", {self.failed_attempts} failed attempts" if self.failed_attempts else "")


def listing(cluster: ClusterClient, *, everybody: bool, everything: bool) -> list[App]:
    """Jobs, newest first: of this user unless `everybody`, those that are not over unless `everything`."""
    return cluster.apps("" if everybody else cluster.user, () if everything else LIVE)


def status(cluster: ClusterClient, job: str) -> JobStatus:
    """Raises UsageError HD630 where no server knows the job, ToolError HD622 where none answers."""
    app = _app(cluster, job)
    found = _detail(cluster, job)
    if app is None and not found:
        raise _unknown(job)

    def number(name: str) -> int:
        return int(found.get(name) or 0)

    counters = _counters(cluster, job) if found else {}
    plugin = counters.get(plugin_counters.GROUP)
    state = str(found.get("state") or "") or (app.state if app else "")
    if app is not None and app.over:
        state = app.final
    return JobStatus(
        job, app.name if app else str(found.get("name")), app.user if app else str(found.get("user")), state,
        number("mapsCompleted"), number("mapsTotal"), number("reducesCompleted"), number("reducesTotal"),
        number("failedMapAttempts") + number("failedReduceAttempts"),
        plugin.get(GPU_MAPS, 0) if plugin else None, plugin.get(CPU_MAPS, 0) if plugin else None,
        str(found.get("diagnostics") or (app.diagnostics if app else "")), app.url if app else "",
        plugin_counters.sides(plugin) if plugin else "",
    )


def counters(cluster: ClusterClient, job: str) -> Counters:
    """group -> name -> total. Raises as `status`."""
    try:
        return cluster.counters(job)
    except Unknown:
        if _app(cluster, job) is None:
            raise _unknown(job) from None
        return {}


def kill(cluster: ClusterClient, conf: HadoopConf, job: str) -> str:
    """End a job; returns what there is to say. Raises as `status`."""
    app = _app(cluster, job)
    if app is None:
        raise _unknown(job)
    if app.over:
        return f"{job} is over already: {app.final}"
    try:
        over = killing.kill(cluster, conf, job)
    except Unknown as error:
        raise cluster.unreachable(error) from None
    return f"{job} is {'' if over else 'being '}killed"


def attempts(cluster: ClusterClient, job: str, only: str = "") -> list[TaskAttempt]:
    """The job's attempts, or one of them or of a task (`only`), failed ones first. Raises as `status`, HD630 for `only`."""
    if _app(cluster, job) is None and not _detail(cluster, job):
        raise _unknown(job)
    try:
        found = cluster.attempts(job)
    except Unknown as error:
        raise cluster.unreachable(error) from None
    found = [attempt for attempt in found if only in ("", attempt.id, attempt.task)]
    if only and not found:
        raise UsageError(f"{job} has no attempt or task {only!r} that can be shown", code="HD630")
    return sorted(found, key=lambda attempt: attempt.state != "FAILED")


def log_texts(cluster: ClusterClient, conf: HadoopConf, found: list[TaskAttempt], lines: int) -> Iterator[tuple[str, str]]:
    """(title, text) of each attempt's logs that are not empty."""
    for attempt in found:
        for name in LOG_NAMES:
            text = logs.log(cluster, conf, attempt, name)
            if text.strip():
                yield f"{attempt.id} {attempt.state} on {attempt.node}: {name}", logs.tail(text, lines) if lines else text


def _app(cluster: ClusterClient, job: str) -> App | None:
    try:
        return cluster.app(job)
    except Unknown as error:
        raise cluster.unreachable(error) from None


def _detail(cluster: ClusterClient, job: str) -> dict[str, Any]:
    for ask in (cluster.live, cluster.past):
        try:
            if found := one(ask(job).get("job")):
                return found
        except Unknown:
            continue
    return {}


def _counters(cluster: ClusterClient, job: str) -> Counters:
    try:
        return cluster.counters(job)
    except Unknown:
        return {}


def _unknown(job: str) -> UsageError:
    return UsageError(f"no server knows {job}", code="HD630", help="heterodoop job list --all")
