"""Follow a job to its end: what is shown meanwhile, and what is known of it afterwards.

Polls once a second, as little as a person needs: the ResourceManager for the state, the ApplicationMaster for tasks and
counters. A cluster that does not answer for a while changes nothing about its job; after `GIVE_UP` seconds we leave it.
Not here: why it failed (`logs`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from ...driver.cluster.yarn_rest import Unknown, one
from ...engine.terminal.progress import Display, Snapshot
from ...errors import ToolError
from . import plugin_counters
from .plugin_counters import EMULATED_MAPS, GPU_MAPS, Counters
from .rest import App, ClusterClient

PERIOD = 1.0
GIVE_UP = 300.0
HISTORY_SECONDS = 30.0
QUEUE_HINT = 60.0  # a job that waits so long for a container is told why
SUCCEEDED = "SUCCEEDED"
HADOOPS = ("org.apache.hadoop.", "Shuffle Errors")  # how the names of Hadoop's own groups of counters begin

Say = Callable[[str], None]


class JobEnded(NamedTuple):
    """How a job ended. `state`: SUCCEEDED, FAILED or KILLED; `seconds`: from its submission.

    None, and no counters at all: nobody knows. A job that ran has some.
    """

    job: str
    state: str
    seconds: float
    maps: int | None
    reduces: int | None
    failed_attempts: int | None
    diagnostics: str
    counters: Counters
    uber: bool = False  # its tasks ran in its application master

    @property
    def plugin(self) -> dict[str, int]:
        """What the plug-in counted, {} where it did not or nobody knows."""
        return self.counters.get(plugin_counters.GROUP, {})

    def maps_on(self, name: str) -> int | None:
        """Map attempts that the plug-in counts under the name; None: nobody knows."""
        return self.plugin.get(name, 0) if self.counters else None


class Follower:
    """One job, watched. `plugin`: whether its map tasks may use GPUs."""

    def __init__(self, cluster: ClusterClient, job: str, display: Display, say: Say, *, plugin: bool) -> None:
        self._cluster = cluster
        self._job = job
        self._display = display
        self._say = say
        self._plugin = plugin
        self._waited = time.monotonic()
        self._hinted = False

    def wait(self) -> JobEnded:
        """Until the job is over. Raises ToolError HD622 where the cluster is silent for too long."""
        heard = time.monotonic()
        try:
            while True:
                app, why = self._ask()
                if app is not None:
                    heard = time.monotonic()
                if (app is not None and app.over) or (app is None and self._cluster.history(self._job)):
                    return ended(self._cluster, self._job, app)
                if time.monotonic() - heard > GIVE_UP:
                    what = f"nothing is heard of the job any more, which may go on: {why}"
                    raise ToolError(what, code="HD622", help=f"heterodoop job status {self._job}")
                self._show(app)
                time.sleep(PERIOD)
        finally:
            self._display.close()

    def _ask(self) -> tuple[App | None, str]:
        """The application, or why there is none: no answer, or a ResourceManager that forgot it over a restart."""
        try:
            return self._cluster.app(self._job), "the ResourceManager does not know it"
        except Unknown as error:
            return None, str(error)

    def _show(self, app: App | None) -> None:
        if app is not None and app.state != "RUNNING":
            self._hint(app)
        elif self._display.due():
            try:
                self._display.show(self._snapshot())
            except Unknown:
                pass

    def _hint(self, app: App) -> None:
        if not self._hinted and time.monotonic() - self._waited > QUEUE_HINT:
            self._hinted = True
            self._say(f"{self._job} is {app.state} for {QUEUE_HINT:.0f} s: {app.diagnostics or 'YARN does not say why'}")
            for node, report in self._cluster.unhealthy():
                self._say(f"node {node} takes no tasks: {report}")

    def _snapshot(self) -> Snapshot:
        found = one(self._cluster.live(self._job).get("job")) or {}
        numbers = {name: int(found.get(name) or 0) for name in (
            "mapsCompleted", "mapsTotal", "reducesCompleted", "reducesTotal", "failedMapAttempts", "failedReduceAttempts",
        )}
        maps, total = numbers["mapsCompleted"], numbers["mapsTotal"]
        on_device, device = self._on_device() if self._plugin else (None, "")
        return Snapshot(
            phase="map" if maps < total or not numbers["reducesTotal"] else "reduce",
            maps_done=maps, maps=total, reduces_done=numbers["reducesCompleted"], reduces=numbers["reducesTotal"],
            failed=numbers["failedMapAttempts"] + numbers["failedReduceAttempts"], bytes_done=0, bytes_total=0,
            # Asked later than the maps, and attempts that are not over yet have counted too.
            on_device=None if on_device is None else min(on_device, maps), device=device,
        )

    def _on_device(self) -> tuple[int, str]:
        """How many maps devices have done, and what to call these."""
        own = self._cluster.counters(self._job, ended=False).get(plugin_counters.GROUP, {})
        found = own.get(GPU_MAPS, 0)
        return found, "emulated" if found and own.get(EMULATED_MAPS, 0) == found else "GPU"


def ended(cluster: ClusterClient, job: str, app: App | None) -> JobEnded:
    """What is known of a job that is over, from the JobHistory server, else from the ResourceManager alone."""
    found = cluster.history_of(job, HISTORY_SECONDS)
    if found is None:
        state, seconds = (app.final, app.elapsed / 1000) if app else ("UNKNOWN", 0.0)
        return JobEnded(job, state, seconds, None, None, None, app.diagnostics if app else "", {})
    try:
        counters = cluster.counters(job)
    except Unknown:
        counters = {}
    milliseconds = int(found.get("finishTime") or 0) - int(found.get("submitTime") or 0)
    failed = sum(int(found.get(name) or 0) for name in ("failedMapAttempts", "failedReduceAttempts"))
    state = str(found.get("state") or (app.final if app else "UNKNOWN"))
    return JobEnded(
        job, "FAILED" if state == "ERROR" else state, milliseconds / 1000, int(found.get("mapsTotal") or 0),
        int(found.get("reducesTotal") or 0), failed,
        str(found.get("diagnostics") or (app.diagnostics if app else "")), counters, bool(found.get("uberized")),
    )
