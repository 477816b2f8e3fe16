"""How a driver learns what its Node cannot see: a thread that asks the ApplicationMasters and tells the node.

    source = source_for(conf)
    source.start(node)
    source.watch(job)      with every offer; costs nothing for a job that is known
    source.stop()

What is not known, or no longer (STALE), is told as None: no tail. A source that cannot reach anything changes the speed of
jobs only. Jobs that have ended are forgotten here and in the node.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from ...scheduler.node.job import of_yarn
from ...scheduler.node.model import JobReport, Knowledge
from ...storage.hadoop_conf import HadoopConf
from .yarn_rest import JOB, JobState, Rest, Unknown, of_conf

PERIOD = 1.0  # seconds between two questions of one job
QUESTIONS = 100  # a second that an ApplicationMaster hears from all nodes of a cluster together, at most
STALE = 5.0  # periods after which an answer says nothing
NODES_PERIOD = 30.0  # of the number of nodes, which changes rarely
GIVE_UP = 600.0  # seconds without an answer after which a job without open leases is forgotten
END_PERIOD = 10.0  # seconds between two questions whether a silent job has ended

Clock = Callable[[], float]


class NodeView(Protocol):
    """The node, as far as a source knows it. All methods may be called from any thread."""

    def hear(self, job: str, knowledge: Knowledge | None) -> None:
        """What is known of a job by now; None: nothing but what the node does itself."""

    def forget(self, job: str) -> None:
        """The job has ended."""

    def report(self) -> Mapping[str, JobReport]:
        """What it knows of each job."""


class Source(Protocol):
    """What the driver's server needs. All methods may be called from any thread, and none blocks for long."""

    def start(self, node: NodeView) -> None:
        """Begin to tell `node`, which is the source's own from now on to tell."""

    def watch(self, job: str) -> None:
        """An attempt of this job has asked."""

    def stop(self) -> None:
        """End the thread; what it told last stays until forgotten."""

    def status(self) -> dict[str, object]:
        """For `driver status`: "source" ("poll", "none"), "detail" (one sentence), "jobs" (how many)."""


class _Polled:
    """What is known of one job. `failing`: since when its ApplicationMaster does not answer; None: it did last time.

    error  why it did not, "".
    """

    __slots__ = ("answered", "checked", "due", "error", "failing", "state")

    def __init__(self) -> None:
        self.state: JobState | None = None
        self.error = ""
        self.answered = self.due = self.checked = float("-inf")
        self.failing: float | None = None


class Polls:
    """Jobs' states from the ApplicationMasters, each asked for once a PERIOD at most, on a large cluster less often. One
    thread at a time."""

    def __init__(self, rest: Rest, clock: Clock = time.monotonic) -> None:
        self._rest, self._clock = rest, clock
        self._jobs: dict[str, _Polled] = {}
        self._nodes: int | None = None
        self._nodes_asked = float("-inf")
        self._nodes_error = ""

    @property
    def error(self) -> str:
        """Why a question that matters now had no answer, ""; jobs that are over do not matter."""
        return next((polled.error for polled in self._jobs.values() if polled.error), self._nodes_error)

    def refresh(self, jobs: Iterable[str], stop: threading.Event | None = None) -> set[str]:
        """Ask for those that are due; drop what is not in `jobs`. Returns those that have ended."""
        self._jobs = {job: self._jobs.get(job) or _Polled() for job in jobs}
        ended = set()
        for job, polled in self._jobs.items():
            if stop and stop.is_set():
                break
            if self._clock() >= polled.due and self._ask(job, polled):
                ended.add(job)
        for job in ended:
            del self._jobs[job]
        return ended

    def _ask(self, job: str, polled: _Polled) -> bool:
        """Whether the job has ended."""
        began = self._clock()
        ended = False
        try:
            polled.state = self._rest.job(job)
            polled.answered, polled.failing = self._clock(), None
            polled.error = ""
        except Unknown as error:
            polled.error = str(error)
            polled.failing = began if polled.failing is None else polled.failing
            # A redirect says that there is no ApplicationMaster yet, or none any more; all else may be the network's fault.
            if "status 302" in polled.error or began - max(polled.failing, polled.checked) >= END_PERIOD:
                polled.checked = began
                ended = self._rest.over(job)
        # One that lets a question wait is asked less often: the others must not wait for it.
        polled.due = began + max(self._period * 0.9, 10 * (self._clock() - began))
        return ended

    def state(self, job: str) -> JobState | None:
        """None: not known, or too long ago."""
        polled = self._jobs.get(job)
        return polled.state if polled and self._clock() - polled.answered <= STALE * self._period else None

    @property
    def _period(self) -> float:
        return max(PERIOD, (self._nodes or 1) / QUESTIONS)

    def silent(self, job: str) -> float:
        """Seconds since the job's ApplicationMaster began not to answer."""
        polled = self._jobs.get(job)
        return 0.0 if polled is None or polled.failing is None else self._clock() - polled.failing

    def nodes(self) -> int | None:
        """Active NodeManagers of the cluster; None: not known."""
        now = self._clock()
        if now - self._nodes_asked >= (NODES_PERIOD if self._nodes else PERIOD):
            self._nodes_asked = now
            try:
                self._nodes = self._rest.active_nodes()
                self._nodes_error = ""
            except Unknown as error:
                self._nodes_error = str(error)
        return self._nodes


def alone(state: JobState | None, nodes: int | None, report: JobReport) -> Knowledge | None:
    """What a driver can conclude: it does not hear what other nodes decide (docs/decisions/0039)."""
    if state is None or not nodes:
        return None
    return of_yarn(state.total, state.completed, state.pending, nodes, len(report.decided))


class Ticker:
    """The thread of a source: calls `step` again and again until `stop`, and at once after `wake`, whatever it raises."""

    def __init__(self, name: str, step: Callable[[], float]) -> None:
        self._step = step  # returns the seconds until the next
        self.failed = ""  # the last bug that it met
        self._wake = threading.Event()
        self.stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        self._wake.set()

    def stop(self) -> None:
        self.stopped.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def _run(self) -> None:
        while not self.stopped.is_set():
            try:
                seconds = self._step()
            except Exception as error:  # a bug, or an answer that nobody thought of: the next one may be another
                self.failed = f"{type(error).__name__}: {error}"
                seconds = PERIOD
            self._wake.wait(seconds)
            self._wake.clear()


class Poller:
    """The source of a driver that knows a ResourceManager."""

    def __init__(self, rest: Rest, clock: Clock = time.monotonic) -> None:
        self._polls = Polls(rest, clock)
        self._jobs: set[str] = set()
        self._lock = threading.Lock()
        self._ticker = Ticker("knowledge", self.step)
        self._node: NodeView | None = None

    def start(self, node: NodeView) -> None:
        self.attach(node)
        self._ticker.start()

    def attach(self, node: NodeView) -> None:
        """As `start`, for tests, which call `step` themselves."""
        self._node = node

    def watch(self, job: str) -> None:
        if job not in self._jobs and JOB.match(job):
            with self._lock:
                self._jobs.add(job)
            self._ticker.wake()

    def stop(self) -> None:
        self._ticker.stop()

    def status(self) -> dict[str, object]:
        with self._lock:
            jobs = len(self._jobs)
        detail = self._polls.error or self._ticker.failed or "the ApplicationMasters answer"
        return {"source": "poll", "detail": detail, "jobs": jobs}

    def step(self) -> float:
        """Ask once for each job and tell the node; returns the seconds until it should be done again."""
        node = self._node
        assert node is not None, "not started"
        with self._lock:
            jobs = sorted(self._jobs)
        ended = self._polls.refresh(jobs, self._ticker.stopped)
        nodes = self._polls.nodes() if jobs else None
        reports = node.report()
        for job in jobs:
            report = reports.get(job)
            given_up = self._polls.silent(job) >= GIVE_UP and not (report and report.live)
            if job in ended or report is None or given_up:
                self.unwatch(job)
                node.forget(job)
            else:
                node.hear(job, alone(self._polls.state(job), nodes, report))
        return PERIOD

    def unwatch(self, job: str) -> None:
        """Ask no more for a job."""
        with self._lock:
            self._jobs.discard(job)


def source_for(conf: HadoopConf) -> Source:
    """What a driver asks: the ApplicationMasters, or nobody where no ResourceManager is named."""
    where = of_conf(conf)
    return Poller(Rest(where)) if where.resource_managers else Nothing()


class Nothing:
    """The source of a driver that knows no ResourceManager: nothing is ever known, so every job is gpu-first."""

    def start(self, node: NodeView) -> None:
        pass

    def watch(self, job: str) -> None:
        pass

    def stop(self) -> None:
        pass

    def status(self) -> dict[str, object]:
        return {"source": "none", "detail": "no ResourceManager is configured: jobs are gpu-first", "jobs": 0}
