"""What a cluster says of its jobs over REST, as values: for `submit`, which follows a job, and `heterodoop job`.

The ResourceManager knows every application; the ApplicationMaster (through the ResourceManager's proxy) a running job; the
JobHistory server one that ended. `driver.cluster.yarn_rest` has the transport and what is odd about the answers. Not here:
what is shown of it (`follow`, `jobs`), and why a job failed (`logs`).
"""

from __future__ import annotations

import http.client
import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...driver.cluster import yarn_rest
from ...driver.cluster.yarn_rest import OVER, Unknown, application, many, one
from ...errors import Limitation, ToolError, UsageError
from ...storage.hadoop_conf import HadoopConf
from ...storage.spnego import user_of
from . import plugin_counters
from .client import LOOK
from .plugin_counters import Counters

TIMEOUT = 20.0
_HISTORY = "/ws/v1/history/mapreduce/jobs"
_ID = re.compile(r"(?:job|application)_([0-9]{1,19}_[0-9]{1,10})\Z")
_LOG_BYTES = 1 << 20
_ANSWER_BYTES = 64 << 20  # the tasks of a job of 100,000 are 19 MB


class App(NamedTuple):
    """An application as the ResourceManager sees it. `final`: SUCCEEDED, FAILED, KILLED, UNDEFINED; times in ms."""

    id: str
    name: str
    user: str
    queue: str
    state: str
    final: str
    progress: float
    started: int
    elapsed: int
    diagnostics: str
    url: str

    @property
    def job(self) -> str:
        return "job_" + self.id.removeprefix("application_")

    @property
    def over(self) -> bool:
        return self.state in OVER


class TaskAttempt(NamedTuple):
    """A task attempt; `node`: host:port of its NodeManager's web server, `container` its id, "" where it got none."""

    id: str
    task: str
    state: str
    status: str
    node: str
    container: str
    diagnostics: str
    finished: int


def job_id(text: str) -> str:
    """job_x_y of a job's or an application's id. Raises UsageError HD630 for what is neither."""
    match = _ID.match(text.strip())
    if not match:
        raise UsageError(f"{text!r} is no job id", code="HD630", help="heterodoop job list --all")
    return f"job_{match[1]}"


class ClusterClient(yarn_rest.Rest):
    """A client of one cluster's web addresses."""

    def __init__(self, conf: HadoopConf, timeout: float = TIMEOUT) -> None:
        super().__init__(yarn_rest.of_conf(conf), timeout, _ANSWER_BYTES)
        self.user = user_of(conf)

    def check(self) -> None:
        """Raises ToolError HD622 where no ResourceManager answers, Limitation HD635 where it wants a login."""
        try:
            self._ask_manager("/ws/v1/cluster/info")
        except Unknown as error:
            raise self.unreachable(error) from None

    def unreachable(self, error: Unknown) -> Limitation | ToolError:
        if "status 401" in str(error):
            return Limitation(
                f"the cluster's web addresses want a login: {error}", code="HD635",
                help="get a ticket with kinit; or run the line that `heterodoop submit --dry-run` prints, and follow the job"
                     " with mapred and yarn",
            )
        return ToolError(f"the ResourceManager does not answer: {error}", code="HD622", help=LOOK)

    def apps(self, user: str, states: tuple[str, ...] = (), tag: str = "") -> list[App]:
        """Applications of MapReduce, newest first; `user` "": of all. `tag`: with this word in mapreduce.job.tags."""
        query = "?applicationTypes=MAPREDUCE" + (f"&user={urllib.parse.quote(user, safe='')}" if user else "")
        query += f"&states={','.join(states)}" if states else ""
        query += f"&applicationTags={urllib.parse.quote(tag, safe='')}" if tag else ""
        try:
            found = self._ask_manager(f"/ws/v1/cluster/apps{query}")
        except Unknown as error:
            raise self.unreachable(error) from None
        listed = many((one(found.get("apps")) or {}).get("app"))
        return sorted(map(_app, listed), key=lambda app: app.started, reverse=True)

    def app(self, job: str) -> App | None:
        """The job's application; None where the ResourceManager does not know it (any more). Raises Unknown."""
        try:
            found = one(self._ask_manager(f"/ws/v1/cluster/apps/{application(job)}").get("app"))
        except Unknown as error:
            if "status 404" in str(error):
                return None
            raise
        return _app(found) if found else None

    def unhealthy(self) -> list[tuple[str, str]]:
        """Nodes that YARN gives no tasks, and why (a full disk, mostly); none where nobody says."""
        try:
            found = self._ask_manager("/ws/v1/cluster/nodes?states=UNHEALTHY")
        except Unknown:
            return []
        nodes = many((one(found.get("nodes")) or {}).get("node"))
        return [(str(node.get("id")), str(node.get("healthReport") or "").strip()) for node in nodes]

    def live(self, job: str, part: str = "") -> dict[str, Any]:
        """The job (or a `/part` of it) as its ApplicationMaster has it. Raises Unknown."""
        return self._ask_manager(f"/proxy/{application(job)}/ws/v1/mapreduce/jobs/{job}{part}")

    def past(self, job: str, part: str = "") -> dict[str, Any]:
        """The same as the JobHistory server has it. Raises Unknown."""
        application(job)
        return self._get(f"{self.where.history}{_HISTORY}/{job}{part}")

    def either(self, job: str, part: str = "") -> dict[str, Any]:
        """From the JobHistory server, else from the ApplicationMaster. Raises Unknown."""
        try:
            return self.past(job, part)
        except Unknown:
            return self.live(job, part)

    def history_of(self, job: str, seconds: float) -> dict[str, Any] | None:
        """The ended job from the JobHistory server, which lags behind; None where it does not have it in time."""
        end = time.monotonic() + seconds
        while True:
            try:
                if found := one(self.past(job).get("job")):
                    return found
            except Unknown:
                pass
            if time.monotonic() >= end:
                return None
            time.sleep(0.3)

    def counters(self, job: str, *, ended: bool = True) -> Counters:
        """group -> name -> total. Raises Unknown."""
        found = self.either(job, "/counters") if ended else self.live(job, "/counters")
        return counters_of(found)

    def attempts(self, job: str) -> list[TaskAttempt]:
        """All attempts of tasks that failed, else of tasks with a failed attempt, in order of their end. Raises Unknown."""
        tasks = many((one(self.either(job, "/tasks").get("tasks")) or {}).get("task"))
        failed = [task for task in tasks if task.get("state") in ("FAILED", "KILLED")] or tasks
        found: list[TaskAttempt] = []
        for task in sorted(failed, key=lambda t: t.get("state") != "FAILED")[:20]:
            name = str(task.get("id"))
            listed = one(self.either(job, f"/tasks/{name}/attempts").get("taskAttempts")) or {}
            found += [_attempt(attempt, name) for attempt in many(listed.get("taskAttempt"))]
        return sorted(found, key=lambda attempt: attempt.finished)

    def setting(self, job: str, key: str) -> str:
        """A setting of the job, "" where it has none. Raises Unknown."""
        properties = many((one(self.either(job, "/conf").get("conf")) or {}).get("property"))
        return next((str(p.get("value", "")) for p in properties if p.get("name") == key), "")

    def kill(self, job: str) -> None:
        """Ask the ResourceManager to end the job. Raises Unknown."""
        path = f"/ws/v1/cluster/apps/{application(job)}/state?user.name={urllib.parse.quote(self.user, safe='')}"
        for manager in self.where.resource_managers:
            request = urllib.request.Request(
                manager + path, method="PUT", data=json.dumps({"state": "KILLED"}).encode(),
                headers={"Content-Type": "application/json", "Accept": "application/json"},
            )
            try:
                with self._opener.open(request, timeout=self._timeout):
                    return
            except urllib.error.HTTPError as error:
                error.close()
                why = f"{manager}{path}: status {error.code}"
            except (OSError, http.client.HTTPException) as error:
                why = f"{manager}{path}: {error}"
        raise Unknown(why)

    def log(self, attempt: TaskAttempt, name: str) -> str:
        """The end of a file of an attempt's log, from its NodeManager or the JobHistory server; "" where nobody has it."""
        urls = [f"{self.where.history}/ws/v1/history/containerlogs/{attempt.container}/{name}?nm.id=&size=-{_LOG_BYTES}"]
        if attempt.node:
            urls.insert(0, f"http://{attempt.node}/ws/v1/node/containers/{attempt.container}/logs/{name}?size=-{_LOG_BYTES}")
        for url in urls if attempt.container else []:
            try:
                with self._opener.open(url, timeout=self._timeout) as answer:
                    if answer.headers.get_content_type().startswith(("text/plain", "application/octet")):
                        return str(answer.read(2 * _LOG_BYTES).decode("utf-8", "surrogateescape"))
            except (OSError, http.client.HTTPException):
                continue
        return ""


def counters_of(found: Mapping[str, Any]) -> Counters:
    """As a server says them; the plug-in's under their own names."""
    groups = many((one(found.get("jobCounters")) or {}).get("counterGroup"))
    return plugin_counters.named({
        str(group.get("counterGroupName")): {
            str(counter.get("name")): int(counter.get("totalCounterValue", 0)) for counter in many(group.get("counter"))
        }
        for group in groups
    })


def _app(found: Mapping[str, Any]) -> App:
    def text(name: str) -> str:
        return str(found.get(name) or "")

    return App(
        text("id"), text("name"), text("user"), text("queue"), text("state"), text("finalStatus"),
        float(found.get("progress") or 0), int(found.get("startedTime") or 0), int(found.get("elapsedTime") or 0),
        text("diagnostics"), text("trackingUrl"),
    )


def _attempt(found: Mapping[str, Any], task: str) -> TaskAttempt:
    def text(name: str) -> str:
        return str(found.get(name) or "")

    return TaskAttempt(
        text("id"), task, text("state"), text("status"), text("nodeHttpAddress"), text("assignedContainerId"),
        text("diagnostics"), int(found.get("finishTime") or 0),
    )
