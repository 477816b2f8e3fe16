"""What ResourceManager, ApplicationMaster and JobHistory server say of a job over REST: totals and counts, nodes, the end.

A job's numbers come from its ApplicationMaster through the ResourceManager's proxy. Only status 200 with JSON is an answer
of a live ApplicationMaster: before it registers and after it ends the proxy redirects (302) to a page for people, which a
client that follows gets as 200 with HTML. So redirects are not followed, and everything else means "not known". Writers
differ in how they put a list of one element (the element itself, or an array) and an empty one (null, {} or nothing): all
are read.

Addresses come from this process's own configuration, never from a message. Names of the fields: Hadoop's REST documentation.
Where one wants a login by Kerberos it is asked with a ticket. Not here: threads, repetition, the login (storage/spnego.py).
"""

from __future__ import annotations

import http.client
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import IO, Any, NamedTuple

from ...storage.hadoop_conf import HadoopConf
from ...storage.spnego import Negotiating

TIMEOUT = 2.0  # seconds for an answer; through the proxy of a busy machine it takes up to 0.3
LIMIT = 1 << 20  # bytes of an answer; a job's object has about 1,500
JOB = re.compile(r"job_[0-9]{1,19}_[0-9]{1,10}\Z")
OVER = frozenset({"FINISHED", "FAILED", "KILLED"})  # states of an application that will not change


class Addresses(NamedTuple):
    """Web addresses as URLs without a path: of the ResourceManagers (several where they are highly available), and of the
    JobHistory server ("": none)."""

    resource_managers: tuple[str, ...]
    history: str = ""


class JobState(NamedTuple):
    """A job as its ApplicationMaster sees it. `completed` counts tasks that succeeded, failed or were killed.

    pending  tasks without a container yet; None where the ApplicationMaster keeps it from this user.
    """

    state: str
    total: int
    completed: int
    pending: int | None


class Unknown(Exception):
    """No answer that counts; the text says why."""


def of_conf(conf: HadoopConf) -> Addresses:
    """What a configuration names; no addresses where there is no configuration."""
    return Addresses(conf.rm_webs(), conf.jhs_web()) if conf.folder else Addresses(())


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: http.client.HTTPMessage, newurl: str,
    ) -> None:
        """None: the redirect is the answer."""


class Rest:
    """A client of one cluster's web addresses. May be used by several threads."""

    def __init__(self, where: Addresses, timeout: float = TIMEOUT, limit: int = LIMIT) -> None:
        """limit: most bytes of an answer that are taken."""
        self.where = where
        self._limit = limit
        self._timeout = timeout
        self._first = 0  # the ResourceManager that answered last
        # No proxy from the environment: Hadoop's daemons are asked directly, as Hadoop's own clients do.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect(), Negotiating())

    def job(self, job: str) -> JobState:
        """The job's numbers from its live ApplicationMaster. Raises Unknown where there is none that answers."""
        found = self._ask_manager(f"/proxy/{application(job)}/ws/v1/mapreduce/jobs/{job}")
        values = one(found.get("job"))
        if values is None or values.get("id", job) != job:
            raise Unknown("an answer without the job")
        total, completed = count(values, "mapsTotal"), count(values, "mapsCompleted")
        if total is None or completed is None or completed > total:
            raise Unknown("an answer without the job's numbers")
        pending, running = count(values, "mapsPending"), count(values, "mapsRunning")
        # A user who may not view the job gets zeros for what is not public.
        hidden = not pending and not running and completed < total
        return JobState(str(values.get("state", "")), total, completed, None if hidden else pending)

    def active_nodes(self) -> int:
        """NodeManagers that the ResourceManager counts as active. Raises Unknown."""
        values = one(self._ask_manager("/ws/v1/cluster/metrics").get("clusterMetrics"))
        nodes = count(values, "activeNodes") if values else None
        if nodes is None:
            raise Unknown("metrics without activeNodes")
        return nodes

    def over(self, job: str) -> bool:
        """Whether the job has ended for good: its application's state, or else the JobHistory server, says so."""
        try:
            values = one(self._ask_manager(f"/ws/v1/cluster/apps/{application(job)}").get("app"))
            if values is not None:
                return values.get("state") in OVER
        except Unknown:
            pass
        return self.history(job) is not None

    def history(self, job: str) -> dict[str, Any] | None:
        """The job as the JobHistory server has it; None: not there (yet)."""
        if not self.where.history:
            return None
        try:
            application(job)
            return one(self._get(f"{self.where.history}/ws/v1/history/mapreduce/jobs/{job}").get("job"))
        except Unknown:
            return None

    def _ask_manager(self, path: str) -> dict[str, Any]:
        """From the active ResourceManager: a standby answers with a redirect or a page."""
        managers = self.where.resource_managers
        why = "no ResourceManager is configured"
        for offset in range(len(managers)):
            number = (self._first + offset) % len(managers)
            try:
                found = self._get(managers[number] + path)
            except Unknown as error:
                why = why if offset else str(error)
                continue
            self._first = number
            return found
        raise Unknown(why)

    def _get(self, url: str) -> dict[str, Any]:
        request = urllib.request.Request(url, headers={"Accept": "application/json"})
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                kind = answer.headers.get_content_type()
                body = _read(answer, self._limit, time.monotonic() + self._timeout)
        except urllib.error.HTTPError as error:
            error.close()
            raise Unknown(f"{url}: status {error.code}") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Unknown(f"{url}: {error}") from None
        if kind != "application/json" or len(body) > self._limit:
            raise Unknown(f"{url}: {kind}, {len(body)} bytes" + (" or more" if len(body) > self._limit else ""))
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            raise Unknown(f"{url}: no JSON") from None
        if not isinstance(found, dict):
            raise Unknown(f"{url}: JSON, and no object")
        return found


def _read(answer: http.client.HTTPResponse, limit: int, until: float) -> bytes:
    """The body, limit + 1 bytes of it at most. Raises TimeoutError for one that comes in drops."""
    body = bytearray()
    while len(body) <= limit and (piece := answer.read1(limit + 1 - len(body))):
        body += piece
        if time.monotonic() > until:
            raise TimeoutError("timed out")
    return bytes(body)


def application(job: str) -> str:
    """application_x_y for job_x_y. Raises Unknown for what is no id, so that a message cannot choose a path."""
    if not JOB.match(job):
        raise Unknown(f"{job[:80]!r} is no job id")
    return "application_" + job.removeprefix("job_")


def many(value: object) -> list[dict[str, Any]]:
    """A list of objects in whichever way it was written: an array, its one element, null."""
    found = value if isinstance(value, list) else [value]
    return [element for element in found if isinstance(element, dict) and element]


def one(value: object) -> dict[str, Any] | None:
    """The element of a list of one, in whichever way it was written."""
    found = many(value)
    return found[0] if len(found) == 1 else None


def count(values: Mapping[str, Any], name: str) -> int | None:
    """A field that counts; None where it is missing or no count."""
    value = values.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
