"""A GPU of a job: its worker process and, after a fault, the next one; and its sessions as devices.

The process is started in the background, by a thread that lives as long as the job; the first one may be there already.
A fault is a process that ended, a device that failed (its context is of no use any more), or a task without progress. The
faulty process is killed and replaced; after a number of faults the GPU is out of service. Not here: what runs a task again
(gpu_task.py), which task gets which session (engine).
"""

from __future__ import annotations

import select
import time
from collections import Counter
from collections.abc import Callable
from threading import Condition, Thread
from typing import NamedTuple

from ..errors import DeviceError
from .gpu_task import KernelCall
from .gpus import Opened, Survey
from .native import MapSpec, Phase, Progress, TaskResult, TaskStatus
from .native_device import DeviceOptions
from .worker_messages import Message, Open, Ready, Refused, Reply, Run, Setup
from .worker_process import START_SECONDS, Session, WorkerProcess
from .worker_spawn import Spawned, discard, spawn

CANCEL_SECONDS = 1.0  # that a task told to stop may still run: no kernel can be stopped in the middle
_TICK_SECONDS = 0.1
_WAITING = 3  # times the limit, for a task without progress while the GPU's other tasks go on
# Phases in which the user's own programs or the disk set the pace: nobody can say what is too long.
_UNLIMITED = (Phase.COMBINE, Phase.FINISH)


class Limits(NamedTuple):
    """hang_seconds: that a task may make no progress, at least. faults: after so many the GPU is out of service.

    forgive  a task that was done wipes out the faults before it: for a process that lives for weeks.
    """

    hang_seconds: float = 30.0
    faults: int = 3
    forgive: bool = False


class Worker:
    """One GPU's process. Methods may be called by any thread."""

    def __init__(
        self, kind: str, sessions: int, limits: Limits = Limits(), *, number: int | None = None,  # noqa: B008
        spawned: Spawned | None = None,
    ) -> None:
        """kind     "cuda" or "emulated".
        number   of the GPU that it will probably be told to open; None: nobody knows.
        spawned  its first process, where it has been started already; it is this worker's from now on.
        """
        self.kind = kind
        self.sessions = sessions
        self.limits = limits
        self.on_ready: Callable[[], None] = lambda: None  # called, by another thread, whenever a process is ready
        self.faults: list[str] = []  # why, of each process that was replaced
        self._forgiven = 0  # of them
        self._earlier = 0  # of them, in earlier jobs
        self._changed = Condition()
        self._process: WorkerProcess | None = None
        self._ready = self._closing = False
        self._fault: str | None = None  # why the present process must go; "" = at our wish
        self._out: DeviceError | None = None  # why the GPU is out of service
        self._survey: Survey | None = None
        self._opened: Opened | None = None
        self._number = number
        self._spawned = spawned
        self._order: Open | None = None
        self._setup: Setup | None = None
        self._thread = Thread(target=self._live, name=f"heterodoop-{kind}-worker", daemon=True)

    def start(self) -> None:
        """Begin, in the background."""
        self._thread.start()

    def open(self, number: int) -> None:
        """Use the GPU of this number, as soon as the process can."""
        with self._changed:
            self._order = Open(number)
            self._changed.notify_all()

    def setup(self, setup: Setup) -> None:
        """What its devices are made of; with it the sessions open."""
        with self._changed:
            self._setup = setup
            self._changed.notify_all()

    def survey(self, check: Callable[[], None] = lambda: None) -> Survey:
        """The GPUs there are. Waits; `check` is called meanwhile, and may raise. Raises DeviceError: it cannot be said."""
        self._wait(lambda: self._survey is not None, check)
        assert self._survey
        return self._survey

    def opened(self, check: Callable[[], None] = lambda: None) -> Opened:
        """The memory of the GPU, once it is open. Waits as `survey`. Raises DeviceError: why it cannot be used."""
        self._wait(lambda: self._opened is not None, check)
        assert self._opened
        return self._opened

    @property
    def ready(self) -> bool:
        """A task would begin at once."""
        return self._ready

    @property
    def pid(self) -> int:
        """Of the process that there is; 0 while there is none."""
        process = self._process
        return process.pid if process else 0

    @property
    def memory(self) -> Opened | None:
        """As `opened`, without waiting."""
        return self._opened

    @property
    def out_of_service(self) -> str:
        """Why the GPU gets no more tasks; "" while it does."""
        return self._out.message if self._out else ""

    def process(self, check: Callable[[], None]) -> WorkerProcess:
        """The process, once it is ready. Waits as `survey`. Raises DeviceError: the GPU is out of service, or closed."""
        self._wait(lambda: self._ready, check)
        assert self._process
        return self._process

    def fault(self, process: WorkerProcess, why: str) -> None:
        """Kill the process and start another one; it may have ended by itself. `why` "": it is not its fault."""
        with self._changed:
            if process is self._process and self._fault is None and not self._closing:
                self._fault = why
                self._ready = False
                self._changed.notify_all()
        process.kill()

    @property
    def new_faults(self) -> list[str]:
        """Those of the job that runs."""
        return self.faults[self._earlier:]

    def next_job(self) -> None:
        """Faults from now on are another job's."""
        self._earlier = len(self.faults)

    def did(self) -> None:
        """A task was done."""
        if self.limits.forgive:
            self._forgiven = len(self.faults)

    def replace(self) -> None:
        """The next task gets a new process; what this one has in the GPU's memory goes with it. Call it between tasks."""
        with self._changed:
            process = self._process
        if process:
            self.fault(process, "")

    def stop(self) -> None:
        """No more tasks: the process ends in the background."""
        with self._changed:
            if self._process and not self._ready and not self._closing:  # it is still starting: nothing to end in order
                self._process.kill()
            self._closing = True
            self._ready = False
            self._changed.notify_all()

    def close(self) -> None:
        """`stop`, and wait for its end."""
        self.stop()
        if self._thread.ident:
            self._thread.join()

    def _wait(self, ready: Callable[[], bool], check: Callable[[], None]) -> None:
        with self._changed:
            while not ready():
                if out := self._out:
                    raise DeviceError(out.message, code=out.code, help=out.help)
                if self._closing:
                    raise DeviceError("the device is closed", code="HD415")
                check()
                self._changed.wait(_TICK_SECONDS)

    def _live(self) -> None:
        try:
            while not self._closing and not self._out:
                self._serve(self._next())
        except OSError as error:
            self._retire(f"no worker process can be started: {error}")
        finally:
            if self._spawned:  # nobody uses it: this was closed before, or the process cannot be watched
                discard(self._spawned)
            if not self._closing and not self._out:  # a bug: nobody may wait for ever
                self._retire("the thread that watches it has ended")

    def _next(self) -> WorkerProcess:
        """Raises OSError: there can be none."""
        number = self._order.number if self._order else self._number
        self._spawned = self._spawned or spawn(self.kind, self.sessions, number)
        process, self._spawned = WorkerProcess(self._spawned), None
        return process

    def _serve(self, process: WorkerProcess) -> None:
        """One process from its start to its end."""
        with self._changed:
            self._process, self._fault = process, None
            if self._closing:
                process.kill()
        try:
            self._bring_up(process)
        except TimeoutError:
            self.fault(process, f"its worker process did not start within {START_SECONDS:g} s")
        except (EOFError, OSError):
            process.kill()
            self.fault(process, f"its worker process ended at its start: {process.how_it_ended()}")
        with self._changed:
            while self._fault is None and not self._closing:
                self._changed.wait()
            self._ready = False
            self._process = None
        process.finish()
        if self._fault:
            self.faults.append(self._fault)
            if (count := len(self.faults) - self._forgiven) >= self.limits.faults:
                self._retire(f"out of service after {count} faults, the last: {self._fault}")

    def _bring_up(self, process: WorkerProcess) -> None:
        """Raises EOFError, OSError: the process ended."""
        self._note(process.receive())
        for order in (lambda: self._order, lambda: self._setup):
            with self._changed:
                while (message := order()) is None and not self._closing and not self._out:
                    self._changed.wait()
                if message is None or self._closing or self._out:
                    return
            process.send(message)
            self._note(process.receive())

    def _note(self, said: Message) -> None:
        with self._changed:
            match said:
                case Survey():
                    self._survey = said
                case Opened():
                    self._opened = said
                case Ready():
                    self._ready = not self._closing
                case Refused(message, code, help):
                    self._out, self._fault = DeviceError(message, code=code, help=help), ""
            self._changed.notify_all()
        if isinstance(said, Ready):
            self.on_ready()

    def _retire(self, why: str) -> None:
        with self._changed:
            self._out = DeviceError(why, code="HD415")
            self._changed.notify_all()


class WorkerDevice:
    """A session of a worker: it runs one map task at a time, with the `options` of the moment."""

    def __init__(self, worker: Worker, session: int) -> None:
        self.options = DeviceOptions()
        self.hang_seconds = worker.limits.hang_seconds
        self.worker = worker
        self._session = session
        self._stats: Counter[str] = Counter()

    @property
    def name(self) -> str:
        return self.worker.kind

    @property
    def usable(self) -> bool:
        """A device that failed is usable again: with the next process."""
        return not self.worker.out_of_service

    def map_task(
        self, spec: MapSpec, map: KernelCall, combine: KernelCall | None, progress: Progress | None = None,
    ) -> TaskResult:
        """Run one map task; status RUN_ON_CPU or DEVICE_FAILED where it could not do so exactly."""
        seen = progress or Progress()
        begun = time.monotonic()
        try:
            process = self.worker.process(_Stopped.check(seen))
        except _Stopped:
            return _no_result(TaskStatus.CANCELLED, "", begun)
        except DeviceError as error:
            return _no_result(TaskStatus.DEVICE_FAILED, error.message, begun)
        with process.session(self._session) as session, seen.shared(session.block):
            try:
                return self._run(process, session, spec, (map, combine), seen)
            except _Hung as hung:
                why = f"it made no progress for {hung.seconds:.3g} s"
            except _Stopped:
                self.worker.fault(process, "")
                return _no_result(TaskStatus.CANCELLED, "", begun)
            except (EOFError, OSError):
                process.kill()
                why = f"its worker process ended: {process.how_it_ended()}"
            self.worker.fault(process, why)
            return _no_result(TaskStatus.DEVICE_FAILED, f"the {self.name} device failed: {why}", begun)

    def stats(self) -> dict[str, int]:
        """What its tasks did, all together (NativeDevice.stats); of one that its process did not survive nothing."""
        return dict(self._stats)

    def close(self) -> None:
        """Nothing: the session ends with its worker."""

    def _run(
        self, process: WorkerProcess, session: Session, spec: MapSpec, calls: tuple[KernelCall, KernelCall | None],
        progress: Progress,
    ) -> TaskResult:
        """Raises _Hung, _Stopped; EOFError, OSError: the process ended."""
        new = None if session.calls == calls else calls
        fd = spec.input if isinstance(spec.input, int) else -1
        session.channel.send(Run(spec, new, self.options), fd)
        session.calls = calls
        limit = min(self.hang_seconds, spec.timeout_seconds or self.hang_seconds)
        _Watch(progress, limit, lambda: process.others(self._session)).wait(session)
        reply, _ = session.channel.receive()
        if not isinstance(reply, Reply):
            raise OSError(f"{type(reply).__name__} is no answer to a task")
        self._stats.update({name: count - session.stats.get(name, 0) for name, count in reply.stats.items()})
        session.stats = reply.stats
        if reply.result.status is TaskStatus.DEVICE_FAILED:
            self.worker.fault(process, reply.result.message)
        elif reply.result.ok:
            self.worker.did()
        return reply.result


class _Stopped(Exception):
    """The task was told to stop."""

    @staticmethod
    def check(progress: Progress) -> Callable[[], None]:
        def check() -> None:
            if progress.cancelled:
                raise _Stopped

        return check


class _Hung(Exception):
    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


class _Watch:
    """Waits for the end of a task, but not for one that makes no progress or does not stop.

    others  what the GPU's other sessions have done: a task that waits for their kernels does not hang, up to a point.
    """

    def __init__(self, progress: Progress, limit: float, others: Callable[[], object]) -> None:
        self._progress = progress
        self._limit = limit
        self._others = others
        self._seen: object = None
        self._others_seen: object = None
        self._since = self._others_since = time.monotonic()
        self._stop: float | None = None

    def wait(self, session: Session) -> None:
        """Returns when there is something to receive. Raises _Hung, _Stopped."""
        poll = select.poll()
        poll.register(session.channel.socket, select.POLLIN)
        while not poll.poll(_TICK_SECONDS * 1000):
            self._look(time.monotonic())

    def _look(self, now: float) -> None:
        seen = self._progress
        if seen.cancelled:
            self._stop = self._stop or now
            if now - self._stop > CANCEL_SECONDS:
                raise _Stopped
        state = seen.phase, seen.bytes_in, seen.records_in, seen.pairs_out, seen.bytes_out
        if state != self._seen or seen.phase in _UNLIMITED:
            self._seen, self._since = state, now
        others = self._others()
        if others != self._others_seen:
            self._others_seen, self._others_since = others, now
        limit = self._limit if now - self._others_since > self._limit else self._limit * _WAITING
        if now - self._since > limit:
            raise _Hung(now - self._since)


def _no_result(status: TaskStatus, message: str, begun: float) -> TaskResult:
    """What is known of a task without an answer."""
    return TaskResult(status, None, None, None, message, {}, {"total": time.monotonic() - begun}, {}, "", "")
