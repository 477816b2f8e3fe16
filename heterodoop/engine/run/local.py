"""A whole job on this machine: splits -> map attempts -> shuffle -> reduce attempts -> output folder.

Reads as the data flow. The state machine decides, the slots work, this module carries messages between them in one
thread, and sees to it that a job that does not end well leaves nothing behind but its report.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections import deque
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import last_resort
from ...diag import Diagnostic
from ...errors import Interrupted, JobFailed
from ...executor.kernel.host_kernel import HostMaps
from ...executor.kernel.host_reduce import HostReduces
from ...executor.kernel.prologue import Prologues
from ...executor.kernel.small_files import run_joined
from ...executor.native.runtime import Native
from ...executor.task.cpu_task import TaskRunner, by_filters
from ...executor.task.report import AttemptResult, TaskFailure
from ...job.spec import JobSpec
from ...scheduler.estimates import Estimates
from ...scheduler.machine import Machine
from ...scheduler.model import (
    Attempt,
    Commit,
    Ended,
    Event,
    Failed,
    Finish,
    Instruction,
    Kill,
    Launch,
    Lost,
    Opened,
    Start,
    Stop,
    Succeeded,
    TaskKind,
    Tick,
)
from ..devices.map_sides import device_name
from ..job.layout import Layout
from ..terminal.progress import Display, Snapshot, make_display
from ..terminal.signals import StopRequest, StopSignals
from . import speedups
from .attempts import AttemptRunner
from .commit import commit_job, remove_unfinished, reserve
from .inputs import check_inputs
from .job_report import JobReport, LeftTasks, check_place
from .plan import Plan, RunOptions, make_plan
from .shuffle import Shuffle
from .slots import CLOSE_SECONDS, AttemptEnd, Silence, SlotPool

if TYPE_CHECKING:
    from ..devices.devices import Devices, DeviceSource
    from ..devices.first_check import DeviceCheck

POLL_SECONDS = 0.1
GRACE_SECONDS = 2.0  # for what ends a silent attempt in a better way


class Woken(NamedTuple):
    """A worker's GPU is awake: its slots can open."""


class JobResult(NamedTuple):
    """A job that ended well. `report` is what OUT.report/report.json holds."""

    output: Path
    report_folder: Path
    warnings: tuple[Diagnostic, ...]
    report: dict[str, Any]


def run_local(
    bundle: Path, inputs: Sequence[str], output: str, options: RunOptions | None = None, *, runner: TaskRunner | None = None,
    devices: DeviceSource | None = None,
) -> JobResult:
    """`run_job` of a job that is given by the command's options."""
    options = options or RunOptions()
    return run_job(JobSpec.of(bundle, inputs, output, options), options, runner=runner, devices=devices)


def run_job(
    spec: JobSpec, options: RunOptions, *, runner: TaskRunner | None = None, devices: DeviceSource | None = None,
) -> JobResult:
    """Run a job to its end, with OUT/part-00000 ... and OUT/_SUCCESS as the result.

    spec     inputs: files, folders and globs, in order. output: a folder that does not exist yet; making it is the first
             thing that happens.
    options  what is not in `spec`.
    runner   what runs tasks; default: the native runtime.
    devices  where map tasks may run, by `options.device`; None: on the CPU. It is closed at the end.
    Raises   UsageError, Limitation: refused before any work. JobFailed: a task failed in all its attempts, or the output
             could not be put in place. Interrupted: SIGINT, SIGTERM or SIGHUP. In each case the output folder is gone
             again; a failed job leaves its report and logs in OUT.report.
    """
    events: SimpleQueue[object] = SimpleQueue()
    with StopSignals(events.put) as stop:
        reservation = reserve(spec.output)
        try:
            layout = reservation.layout
            with last_resort.cleaning(lambda: remove_unfinished(layout)):
                check_place(layout)
                plan = make_plan(spec, layout, options, stop.check, devices)
                runner = runner or Native.load()
                stop.check()
                return _run(plan, layout, options, runner, devices, events, stop)
        except BaseException:
            reservation.discard()
            raise
        finally:
            reservation.release()
            if devices:
                devices.close()


def _run(
    plan: Plan, layout: Layout, options: RunOptions, runner: TaskRunner, devices: DeviceSource | None,
    events: SimpleQueue[object], stop: StopSignals,
) -> JobResult:
    report = JobReport(layout, plan)
    report.begin()
    with last_resort.cleaning(report.remove_unfinished):
        return _run_reported(plan, layout, options, runner, devices, events, stop, report)


def _run_reported(
    plan: Plan, layout: Layout, options: RunOptions, runner: TaskRunner, devices: DeviceSource | None,
    events: SimpleQueue[object], stop: StopSignals, report: JobReport,
) -> JobResult:
    try:
        job = _Job(plan, layout, runner, devices, report, make_display(sys.stderr, quiet=options.quiet), events)
        job.run()
        stop.check()
        check_inputs(plan)
        commit_job(layout)
        if not report.sides["device"].tasks:
            speedups.remember_short(plan, options, report.seconds["map"])
    except Interrupted:
        report.remove()
        raise
    except Exception as error:
        report.finish(report.content("failed", error, plan.warnings))
        raise
    left = [*device_warnings(report.on_cpu.kinds, plan.shape.maps), *host_warnings(report.to_filters.kinds, plan.shape.maps),
            *host_warnings(report.reduces_left.kinds, plan.shape.reduces, "reduce")]
    wrong = [*remade_warnings(len(report.remade)), *(job.check.warnings(plan.device) if job.check else [])]
    warnings = (*plan.warnings, *data_warnings(report.counters), *wrong, *report.device_warnings, *left)
    content = report.content("succeeded", None, warnings)
    return JobResult(layout.output, layout.report, (*warnings, *report.finish(content)), content)


class _Job:
    """The main loop. `run` returns when all tasks are done, and raises JobFailed or Interrupted."""

    def __init__(
        self, plan: Plan, layout: Layout, runner: TaskRunner, devices: DeviceSource | None, report: JobReport,
        display: Display, events: SimpleQueue[object],
    ) -> None:
        self.plan = plan
        self.layout = layout
        self.report = report
        self.display = display
        self.events = events
        remembered = speedups.recall(plan)
        report.remembered = remembered._asdict() if remembered else None
        self.machine = Machine(
            plan.shape, plan.slots.every, plan.slots.policy, late=plan.slots.late, spare=plan.slots.spare,
            gpus=plan.slots.gpus, size=lambda number: plan.splits[number].length, estimates=Estimates(remembered),
            several=plan.together.several(plan.splits), small=plan.small, beside=plan.slots.beside,
        )
        self.late = deque(plan.slots.late)
        self.shuffle = Shuffle()
        native = runner if isinstance(runner, Native) else None
        prologues = Prologues(native) if native else None  # of devices and host kernels: the same programs
        on_cpu, small = by_filters(runner), None
        if native and prologues and plan.host:
            maps = HostMaps(plan.host, native, prologues)
            on_cpu, small = maps.run_map, partial(run_joined, maps)
        self.devices: Devices | None = None
        self.check: DeviceCheck | None = None
        if devices and plan.offload:
            native = native or Native.load()
            self.devices, self.check = devices.open_checked(
                native, plan.offload, prologues or Prologues(native), runner, on_cpu, plan.files)
            self.devices.when_ready(lambda: events.put(Woken()))
        on_device = self.check.run_map if self.check else None
        several = self.devices.run_several if self.devices else None
        self.attempts = AttemptRunner(
            plan, layout, self.shuffle, runner, on_cpu, on_device, self._host_reduces(runner), several or small)
        self.results: dict[Attempt, tuple[AttemptResult, float]] = {}  # of attempts that ended and are not committed
        self.duplicates: set[Attempt] = set()
        self.overtaken: set[Attempt] = set()  # another attempt of their task was sooner
        self.verdict: Finish | None = None
        self.error: Exception | None = None  # what ended the job, where no task did
        self.todo: deque[Event] = deque()
        self.bytes_done = 0
        self.silence = Silence()
        self.pool = SlotPool(plan.slots.every, self.attempts, events)

    def _host_reduces(self, runner: TaskRunner) -> HostReduces | None:
        """Each with its share of the CPU slots as threads, since no map task runs beside them."""
        program, slots = self.plan.host_reduce, self.plan.slots.cpu
        if program is None or not isinstance(runner, Native):
            return None
        return HostReduces(program, runner, max(1, slots // max(1, self.plan.shape.reduces)))

    def run(self) -> None:
        try:
            self._loop()
        finally:
            self.display.close()
            self.pool.close()
        if self.devices and self.check:
            self.devices.close()
            self.report.device_stats = self.devices.stats
            self.report.driver = self.devices.driver
            self.report.device_check = self.check.to_json()
            self.report.device_warnings = self.devices.warnings
        self.report.duplicates, self.report.speedup = self.machine.duplicates, self.machine.speedup
        self.report.several = self.machine.several
        speedups.remember(self.plan, self.machine.to_remember)
        self._judge()

    def _loop(self) -> None:
        phase, begun = "map", time.monotonic()
        self._open_slots()
        self._handle(Start())
        while self.verdict is None:
            if phase != self.machine.phase:
                if phase == "map" and self.devices:
                    self.devices.stop()
                self.report.seconds[phase] = time.monotonic() - begun
                phase, begun = self.machine.phase, time.monotonic()
            elif phase == "closing" and time.monotonic() - begun > CLOSE_SECONDS:
                self._abandon()
            self._look_for_silence()
            if self.display.due():
                self.display.show(self._snapshot())
            self._open_slots()
            try:
                self._take(self.events.get(timeout=POLL_SECONDS))
            except Empty:
                self._handle(Tick())
        self.report.seconds[phase] = time.monotonic() - begun

    def _open_slots(self) -> None:
        """Slots of workers whose GPU is awake now."""
        ready = self.devices.ready if self.devices and self.late else 0
        while self.late and ready > len(self.plan.slots.late) - len(self.late):
            self._handle(Opened(self.late.popleft()))

    def _look_for_silence(self) -> None:
        """The native runtime stops a filter, and a worker's watch its kernels. A kernel in this process nobody can stop."""
        seconds = self.plan.cpu.timeout_seconds
        if not seconds or not self.plan.offload or self.plan.offload.gpus or self.machine.phase != "map":
            return
        for attempt, progress in self.pool.running():
            if attempt.slot.kind == "gpu" and self.silence.of(attempt, progress) > seconds + GRACE_SECONDS:
                what = f"the kernel of map task {attempt.task.number} made no progress for {seconds:g} s"
                self._give_up(JobFailed(f"{what}; on the emulated device none can be stopped", code="HD430"))

    def _abandon(self) -> None:
        """Do not wait for attempts that did not stop when they were told to: a kernel that never ends cannot be stopped."""
        for attempt in self.machine.running():
            self._handle(Ended(attempt))

    def _take(self, message: object) -> None:
        if isinstance(message, StopRequest):
            self.error = Interrupted(message.reason)
            self._handle(Stop("stopped", message.reason))
        elif isinstance(message, AttemptEnd):
            self._ended(message)

    def _ended(self, end: AttemptEnd) -> None:
        attempt, result = end.attempt, end.result
        if isinstance(result, Exception):
            self._give_up(result)
            self._handle(Ended(attempt))
            return
        overtaken = attempt in self.overtaken
        self.report.ended(end, result, duplicate=attempt in self.duplicates, overtaken=overtaken)
        self.results[attempt] = result, end.seconds
        if result.cancelled:
            self._handle(Ended(attempt))
        elif result.failure and result.lost:
            self.report.remade.update(result.lost)
            self._handle(Lost(attempt, result.lost, result.failure.message))
        elif result.failure:
            self._handle(Failed(attempt, result.failure.message, result.failure.permanent))
        else:
            self._handle(Succeeded(attempt))
        if overtaken:
            self.attempts.discard(attempt)

    def _handle(self, event: Event) -> None:
        """Tell the machine; obey it. An event that arises on the way (a commit that fails) waits for the rest."""
        self.todo.append(event)
        if len(self.todo) > 1:
            return
        while self.todo:
            for instruction in self.machine.handle(self.todo[0], time.monotonic()):
                self._obey(instruction)
            self.todo.popleft()

    def _obey(self, instruction: Instruction) -> None:
        match instruction:
            case Launch(attempt, duplicate):
                if duplicate:
                    self.duplicates.add(attempt)
                self.pool.launch(attempt)
            case Kill(attempt):
                if self.machine.state(attempt.task) == "done" or (attempt.splits > 1 and self.machine.phase == "map"):
                    self.overtaken.add(attempt)
                self.pool.kill(attempt)
            case Commit(attempt):
                self._commit(attempt)
            case Finish():
                self.verdict = instruction

    def _commit(self, attempt: Attempt) -> None:
        result, seconds = self.results.pop(attempt)
        try:
            self.attempts.commit(attempt)
            if result.output:
                self.shuffle.add(attempt.task.number, result.output, attempt.splits)
        except (JobFailed, OSError) as error:
            self._give_up(error)
            return
        if attempt.task.kind == "map" and attempt.task.number in self.report.remade:
            return  # its first attempt counts
        self.report.committed(attempt, result, seconds)
        if attempt.task.kind == "map":
            self.bytes_done += self.plan.bytes_of(attempt)

    def _give_up(self, error: Exception) -> None:
        if self.error is None:
            self.error = error
        self._handle(Stop("failed", str(error)))

    def _judge(self) -> None:
        cause = self.verdict.cause if self.verdict else None
        failure = self.results[cause][0].failure if cause else None
        if cause and failure:
            raise task_failed(self.plan, self.layout, cause, failure)
        if self.error:
            raise self.error

    def _snapshot(self) -> Snapshot:
        shape, machine = self.plan.shape, self.machine
        reading: dict[int, int] = {}  # by task: one that runs twice is as far as the attempt that is ahead
        for attempt, progress in self.pool.running():
            number = attempt.task.number
            if attempt.task.kind == "map" and attempt not in self.overtaken:
                reading[number] = max(reading.get(number, 0), min(progress.bytes_in, self.plan.bytes_of(attempt)))
        failed = sum(self.report.failed.values())
        return Snapshot(
            machine.phase, machine.finished("map"), shape.maps, machine.finished("reduce"), shape.reduces, failed,
            self.bytes_done + sum(reading.values()), self.plan.input_bytes,
            self.report.sides["device"].tasks if self.devices else None, device_name(self.plan.device),
        )


def task_failed(plan: Plan, layout: Layout, attempt: Attempt, failure: TaskFailure) -> JobFailed:
    """The job's error, with all that a user needs to look into it."""
    task = attempt.task
    program = plan.cpu.map if task.kind == "map" else plan.cpu.reduce
    tries = "in its first attempt" if attempt.number == 0 else f"in {attempt.number + 1} attempts"
    lines = [f"{task.kind} task {task.number} failed {tries}: {failure.message}"]
    if task.kind == "map":
        lines.append(f"  split:   {plan.splits[task.number]}")
    else:
        lines.append(f"  reduces: partition {task.number} of {plan.shape.reduces}")
    if program:
        words = plan.commands.get(task.kind)
        lines.append(f"  command: {shlex.quote(str(program))}{f', which starts {words}' if words else ''}")
    if failure.stderr:
        lines += ["  stderr:", *(f"    {line}" for line in failure.stderr.rstrip("\n").split("\n"))]
    lines.append(f"  log:     {layout.log(attempt)}")
    return JobFailed("\n".join(lines), code=failure.code)


def data_warnings(counters: dict[str, int]) -> list[Diagnostic]:
    """What the counters say about the data that a user should know."""
    warnings = []
    if pairs := counters.get("UNREADABLE_PAIRS"):
        what = f"{pairs} pairs do not read back the way the combiner reads them; the result is what it made of them"
        warnings.append(Diagnostic("warning", "HD407", what))
    if nbytes := counters.get("COMBINE_UNREAD_BYTES"):
        what = f"the combiner stopped before the end of its input: {nbytes} bytes of pairs unread, and lost"
        warnings.append(Diagnostic("warning", "HD408", what))
    return warnings


def remade_warnings(tasks: int) -> list[Diagnostic]:
    """Disk or memory of this machine changed what was written there."""
    if not tasks:
        return []
    what = f"the outputs of {tasks} map tasks were damaged after they had been written, and were made again"
    return [Diagnostic("warning", "HD431", what)]


def host_warnings(left: Sequence[LeftTasks], tasks: int, kind: TaskKind = "map") -> list[Diagnostic]:
    """One warning per kind of reason for which a host kernel left tasks to filters. tasks: of that kind."""
    what = f"{kind} tasks ran as filters, not as the host kernel"
    return [Diagnostic("warning", "HD432", f"{one.tasks} of {tasks} {what}: {one.reason}") for one in left]


def device_warnings(left: Sequence[LeftTasks], maps: int) -> list[Diagnostic]:
    """One warning per kind of reason for which a device left tasks to the CPU."""
    return [
        Diagnostic("warning", "HD410", f"{kind.tasks} of {maps} map tasks ran on the CPU, not on the device: {kind.reason}")
        for kind in left
    ]
