"""A GPU of a job: its worker process and, after a fault, the next one; and its sessions as devices.

The process is started in the background, by a thread that lives as long as the job; the first one may be there already.
A fault is a process that ended, a device that failed (its context is of no use any more), or a task without progress. The
faulty process is killed and replaced, and the next one first does work whose results are known; after a number of faults the
GPU is out of service. Where several tasks ran, each runs again alone, and shows by that whether it was its fault. Not here:
what runs a task again (gpu_task.py), which task gets which session (engine).
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from threading import Condition, Thread
from typing import NamedTuple

from ...errors import DeviceError, HeteroDoopError
from ..gpu.gpus import OpenedGpu, Survey
from ..kernel.gpu_task import KernelCall
from ..kernel.native_device import DeviceOptions
from ..native.runtime import MapSpec, Progress, TaskResult, TaskStatus
from .messages import CannotServe, Message, OpenGpu, Reply, RunTask, SessionsReady, Setup
from .process import START_SECONDS, SessionChannel, WorkerProcess
from .spawn import Spawned, discard, spawn
from .turns import Turns
from .watch import Hung, Stopped, Watch

_TICK_SECONDS = 0.1


class Limits(NamedTuple):
    """hang_seconds: that a task may make no progress, at least. faults: after so many the GPU is out of service.

    forgive  a process that works, as its probe says, wipes out the faults before it: they were those of tasks. For a GPU
             that many jobs share.
    rest     seconds after which a GPU that is out of service is tried again.
    """

    hang_seconds: float = 30.0
    faults: int = 3
    forgive: bool = False
    rest: float = math.inf


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
        self.turns = Turns()
        self._forgiven = 0  # of them
        self._probe = False  # the next process shows first that the GPU works
        self._earlier = 0  # of them, in earlier jobs
        self._changed = Condition()
        self._process: WorkerProcess | None = None
        self._last_pid = 0
        self._ready = self._closing = False
        self._fault: str | None = None  # why the present process must go; "" = at our wish
        self._out: DeviceError | None = None  # why the GPU is out of service
        self._survey: Survey | None = None
        self._expected: Survey | None = None
        self._unexpected: Callable[[], None] = lambda: None
        self._opened: OpenedGpu | None = None
        self._number = number
        self._spawned = spawned
        self._order: OpenGpu | None = None
        self._setup: Callable[[], Setup] | None = None
        self._thread = Thread(target=self._live, name=f"heterodoop-{kind}-worker", daemon=True)

    def start(self) -> None:
        """Begin, in the background."""
        self._thread.start()

    def open(self, number: int) -> None:
        """Use the GPU of this number, as soon as the process can."""
        with self._changed:
            self._order = OpenGpu(number)
            self._changed.notify_all()

    def setup(self, setup: Setup | Callable[[], Setup]) -> None:
        """What its devices are made of; with it the sessions open.

        Or what gives that, perhaps by building it: it is called by another thread, once the GPU is open, for each process.
        Where it raises a HeteroDoopError the GPU is out of service.
        """
        with self._changed:
            self._setup = setup if callable(setup) else lambda: setup
            self._changed.notify_all()

    def expect(self, survey: Survey, unexpected: Callable[[], None]) -> bool:
        """Whether to go on as if it had said that: False where it has spoken already. Where it says something else, or
        cannot serve, `unexpected` is called by another thread, and the GPU is out of service."""
        with self._changed:
            if self._survey or self._out:
                return False
            self._expected, self._unexpected = survey, unexpected
            return True

    def survey(self, check: Callable[[], None] = lambda: None) -> Survey:
        """The GPUs there are. Waits; `check` is called meanwhile, and may raise. Raises DeviceError: it cannot be said."""
        self._wait(lambda: self._survey is not None, check)
        assert self._survey
        return self._survey

    def opened(self, check: Callable[[], None] = lambda: None) -> OpenedGpu:
        """The memory of the GPU, once it is open. Waits as `survey`. Raises DeviceError: why it cannot be used."""
        self._wait(lambda: self._opened is not None, check)
        assert self._opened
        return self._opened

    @property
    def ready(self) -> bool:
        """A task would begin at once."""
        return self._ready

    @property
    def closing(self) -> bool:
        """It was told to stop: there are no more tasks."""
        return self._closing

    @property
    def pid(self) -> int:
        """Of the process that there is; 0 while there is none."""
        process = self._process
        return process.pid if process else 0

    @property
    def last_pid(self) -> int:
        """Of the process that there is, or was: it may be ending. 0: there was none."""
        return self._last_pid

    @property
    def memory(self) -> OpenedGpu | None:
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
            while not self._closing and (not self._out or self._rested()):
                try:
                    self._serve(self._next())
                except OSError as error:
                    self._retire(f"no worker process can be started: {error}")
        finally:
            if self._spawned:  # nobody uses it: this was closed before, or the process cannot be watched
                discard(self._spawned)
            if not self._closing and not self._out:  # a bug: nobody may wait for ever
                self._retire("the thread that watches it has ended")

    def _rested(self) -> bool:
        """Wait until the GPU may be tried again; False: it never may, or this is closed."""
        end = time.monotonic() + self.limits.rest
        with self._changed:
            while not self._closing and (left := end - time.monotonic()) > 0:
                if math.isinf(left):
                    return False
                self._changed.wait(left)
            self._out, self._probe, self._forgiven = None, True, len(self.faults)
            return not self._closing

    def _next(self) -> WorkerProcess:
        """Raises OSError: there can be none."""
        number = self._order.number if self._order else self._number
        self._spawned = self._spawned or spawn(self.kind, self.sessions, number)
        process, self._spawned = WorkerProcess(self._spawned), None
        return process

    def _serve(self, process: WorkerProcess) -> None:
        """One process from its start to its end."""
        with self._changed:
            self._process, self._fault, self._last_pid = process, None, process.pid
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
            self._probe = True
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
            try:
                process.send(message if isinstance(message, OpenGpu) else message()._replace(probe=self._probe))
            except HeteroDoopError as error:
                self._note(CannotServe(error.message, error.code, error.help))
                return
            self._note(process.receive())

    def _note(self, said: Message) -> None:
        with self._changed:
            match said:
                case Survey():
                    self._survey = said
                    if self._expected not in (None, said):
                        self._refuse(DeviceError("the machine has other GPUs than for the last command", code="HD415"))
                case OpenedGpu():
                    self._opened = said
                case SessionsReady():
                    self._ready = not self._closing
                    self._probe = False
                    if self.limits.forgive:
                        self._forgiven = len(self.faults)
                case CannotServe(message, code, help):
                    self._refuse(DeviceError(message, code=code, help=help))
            self._changed.notify_all()
        if isinstance(said, SessionsReady):
            self.on_ready()

    def _refuse(self, why: DeviceError) -> None:
        self._out, self._fault = why, ""
        if self._expected:
            self._unexpected()

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
        self.on_process: Callable[[WorkerProcess], None] = lambda process: None  # hears of each that gets a task, before
        self._session = session
        self._suspect = False  # its last task failed, and may not have been alone
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
        """Run one map task; status RUN_ON_CPU, DEVICE_FAILED or DEVICE_LOST where it could not do so exactly.

        After a failure the next one runs alone: DEVICE_FAILED is then its own doing, DEVICE_LOST is not.
        """
        seen = progress or Progress()
        begun = time.monotonic()
        check = Stopped.check(seen)
        turns = self.worker.turns
        try:
            with turns.alone(check) if self._suspect else turns.side_by_side(check):
                result = self._on_process(self.worker.process(check), spec, (map, combine), seen)
        except Stopped:
            return no_result(TaskStatus.CANCELLED, "", begun)
        except DeviceError as error:
            result = no_result(TaskStatus.DEVICE_LOST, error.message, begun)
        self._suspect = result.status is TaskStatus.DEVICE_FAILED and not self._suspect
        return result

    def _on_process(
        self, process: WorkerProcess, spec: MapSpec, calls: tuple[KernelCall, KernelCall | None], seen: Progress,
    ) -> TaskResult:
        begun = time.monotonic()
        status = TaskStatus.DEVICE_FAILED
        self.on_process(process)
        with process.session(self._session) as session, seen.shared(session.block):
            try:
                return self._run(process, session, spec, calls, seen)
            except Hung as hung:
                why = f"it made no progress for {hung.seconds:.3g} s"
            except Stopped:
                self.worker.fault(process, "")
                return no_result(TaskStatus.CANCELLED, "", begun)
            except (EOFError, OSError):
                if seen.cancelled and self.worker.closing:  # nobody waits until the process has let go of the GPU
                    process.kill()
                    return no_result(TaskStatus.CANCELLED, "", begun)
                if self._suspect and process.was_killed():  # alone: it was nobody of ours
                    status = TaskStatus.DEVICE_LOST
                process.kill()
                why = f"its worker process ended: {process.how_it_ended()}"
            self.worker.fault(process, why)
            return no_result(status, f"the {self.name} device failed: {why}", begun)

    def stats(self) -> dict[str, int]:
        """What its tasks did, all together (NativeDevice.stats); of one that its process did not survive nothing."""
        return dict(self._stats)

    def close(self) -> None:
        """Nothing: the session ends with its worker."""

    def _run(
        self, process: WorkerProcess, session: SessionChannel, spec: MapSpec, calls: tuple[KernelCall, KernelCall | None],
        progress: Progress,
    ) -> TaskResult:
        """Raises Hung, Stopped; EOFError, OSError: the process ended."""
        new = None if session.calls == calls else calls
        fd = spec.input if isinstance(spec.input, int) else -1
        session.channel.send(RunTask(spec, new, self.options), fd)
        session.calls = calls
        limit = min(self.hang_seconds, spec.timeout_seconds or self.hang_seconds)
        Watch(progress, limit, lambda: process.others(self._session)).wait(session)
        reply, _ = session.channel.receive()
        if not isinstance(reply, Reply):
            raise OSError(f"{type(reply).__name__} is no answer to a task")
        self._stats.update({name: count - session.stats.get(name, 0) for name, count in reply.stats.items()})
        session.stats = reply.stats
        if reply.result.status is TaskStatus.DEVICE_FAILED:
            self.worker.fault(process, reply.result.message)
        return reply.result


def no_result(status: TaskStatus, message: str, begun: float) -> TaskResult:
    """What is known of a task without an answer."""
    return TaskResult(status, None, None, None, message, {}, {"total": time.monotonic() - begun}, {}, "", "")
