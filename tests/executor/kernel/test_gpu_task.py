"""A map task on a device that says what the test wants: what counts as done, what goes to the CPU, what fails."""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from heterodoop.errors import DeviceError
from heterodoop.executor.kernel.gpu_task import DeviceCode, KernelCall, KernelCode, run_map
from heterodoop.executor.kernel.prologue import LiveIns
from heterodoop.executor.native.runtime import FilterCommand, MapSpec, Progress, TaskResult, TaskStatus
from heterodoop.executor.task.cpu_task import CpuJob, MapRun, Place, by_filters
from heterodoop.executor.task.report import AttemptResult
from heterodoop.executor.task.split import Split
from heterodoop.executor.task.streaming_env import TaskNames
from heterodoop.kernel_plan import KernelPlan
from heterodoop.manifest import Kernel
from heterodoop.storage.local import InputFile

from ..task.test_cpu_task import OK, FakeRunner, write_output

KERNEL = Kernel("cuda/map.cu", "hd_map", 128, 0, 0, 0, 0, 1, 0, (), "", "once", KernelPlan(), ())
MAP, COMBINE = KernelCode(KERNEL, Path("/m.so")), KernelCode(KERNEL, Path("/c.so"), Path("/b/combine.prologue"))


class FakeDevice(FakeRunner):
    """`FakeRunner` with the kernels it was given."""

    name = "emulated"
    usable = True
    renews = False

    def __init__(self, *results: TaskResult, log: Path | None = None) -> None:
        super().__init__(*results)
        self.kernels: list[tuple[KernelCall, KernelCall | None]] = []
        self.log = log

    def map_task(  # type: ignore[override]
        self, spec: MapSpec, map: KernelCall, combine: KernelCall | None, progress: Progress | None = None,
    ) -> TaskResult:
        self.kernels.append((map, combine))
        if self.log:
            self.log.write_text("said by the device")
        result = super().map_task(spec, progress)
        self.usable = self.renews or result.status is not TaskStatus.DEVICE_FAILED
        return result


@dataclass
class FakePrologues:
    """`own`: the code before the region gives each split something else."""

    refusal: str = ""
    own: bool = False
    commands: list[FilterCommand] = field(default_factory=list)

    def live_ins(self, kernel, program, command, scratch, progress, timeout_seconds) -> LiveIns:
        self.commands.append(command)
        if self.refusal:
            raise DeviceError(self.refusal, code="HD410")
        return LiveIns(b"live %d" % len(self.commands) if self.own else b"live")


@pytest.fixture
def run(tmp_path: Path) -> MapRun:
    (tmp_path / "in").write_bytes(b"0123456789")
    programs = Path("/b/map"), Path("/b/combine"), Path("/b/reduce")
    job = CpuJob(*programs, True, None, [b"A=1"], 2, b"", False, 4096, "reporter:")
    place = Place(tmp_path, tmp_path, tmp_path / "log", TaskNames("job_1_0001", True, 3, 0, tmp_path, tmp_path))
    return MapRun(job, Split(InputFile(str(tmp_path / "in"), 10), 2, 5), place, tmp_path / "o", tmp_path / "i")


def go(device: FakeDevice, cpu: FakeRunner, run: MapRun, prologues: FakePrologues | None = None,
       progress: Progress | None = None) -> AttemptResult:
    code = DeviceCode(MAP, COMBINE)
    return run_map(device, code, prologues or FakePrologues(), by_filters(cpu), run, progress or Progress())  # type: ignore[arg-type]


def answer(status: TaskStatus, message: str = "what happened") -> TaskResult:
    return replace(OK, status=status, message=message)


def test_what_the_device_did_is_the_result(run: MapRun) -> None:
    device, cpu, prologues = FakeDevice(OK), FakeRunner(), FakePrologues()
    result = go(device, cpu, run, prologues)
    assert (result.device, result.reason, result.failure, result.runs) == ("emulated", "", None, 1)
    assert result.output is not None and result.counters == {"MAP_INPUT_RECORDS": 5} and cpu.specs == []
    assert device.kernels == [(KernelCall(MAP, LiveIns(b"live")), KernelCall(COMBINE, LiveIns(b"live")))]
    spec = device.specs[0]
    assert (spec.start, spec.length, spec.reducers, spec.combine.argv) == (2, 5, 2, [Path("/b/combine")])
    assert prologues.commands[1].argv == [Path("/b/combine.prologue")] and b"A=1" in prologues.commands[0].env


@pytest.mark.parametrize("status", [TaskStatus.RUN_ON_CPU, TaskStatus.DEVICE_FAILED, TaskStatus.INTERNAL])
def test_what_the_device_cannot_do_the_cpu_does(run: MapRun, status: TaskStatus) -> None:
    device, cpu = FakeDevice(answer(status), log=run.place.log), FakeRunner(OK)
    result = go(device, cpu, run)
    assert (result.device, result.reason, result.failure) == ("cpu", "what happened", None)
    assert result.device_failed == (status is not TaskStatus.RUN_ON_CPU)
    assert cpu.specs[0] == device.specs[0] and result.seconds == {"total": 1.5, "refused": 1.5}
    assert not run.place.log.exists(), "the filter says it again"


def test_a_device_that_is_replaced_gets_the_task_once_more(run: MapRun) -> None:
    device, cpu = FakeDevice(answer(TaskStatus.DEVICE_FAILED, "killed by SIGKILL"), OK, log=run.place.log), FakeRunner()
    device.renews = True
    for name in ("spill0.out", "spill1.out.tmp", "merge-7-0.run"):
        (run.place.scratch / name).touch()
    progress = Progress()
    result = go(device, cpu, run, progress=progress)
    assert (result.device, result.retried, result.reason) == ("emulated", "killed by SIGKILL", "") and cpu.specs == []
    assert device.specs[0] == device.specs[1] and result.seconds == {"total": 1.5, "refused": 1.5}
    assert not result.device_failed and not list(run.place.scratch.glob("spill*")) + list(run.place.scratch.glob("merge*"))


def test_then_the_cpu_does_it(run: MapRun) -> None:
    device = FakeDevice(answer(TaskStatus.DEVICE_FAILED, "first"), answer(TaskStatus.DEVICE_FAILED, "second"))
    device.renews = True
    result = go(device, FakeRunner(OK), run)
    assert (result.device, result.retried, result.reason) == ("cpu", "first", "second") and result.device_failed
    assert result.seconds == {"total": 1.5, "refused": 3.0} and len(device.specs) == 2


@pytest.mark.parametrize(("runs", "own"), [("once", True), ("asked", True), ("asked", False)])
def test_several_splits_must_have_the_same_from_before_the_region(run: MapRun, runs: str, own: bool) -> None:
    """A prologue that asks for nothing is not run for each."""
    code = replace(MAP, kernel=replace(KERNEL, prologue="bin/p", prologue_runs=runs))  # type: ignore[arg-type]
    names = run.place.names
    others = tuple(run.place._replace(names=names._replace(number=number)) for number in (4, 5))
    device, cpu, prologues = FakeDevice(OK), FakeRunner(OK), FakePrologues(own=own)
    result = run_map(device, DeviceCode(code), prologues, by_filters(cpu), replace(run, others=others),
                     Progress())  # type: ignore[arg-type]
    name = "mapreduce_task_partition="
    asked = [text.removeprefix(name) for command in prologues.commands for text in map(os.fsdecode, command.env)
             if text.startswith(name)]
    if runs == "asked" and own:
        assert result.reason == "the code before the region gives another result for each split" and not device.specs
    else:
        assert result.device == "emulated" and asked == (["3"] if runs == "once" else ["3", "4", "5"])


def test_the_second_run_may_leave_out_the_fold(run: MapRun) -> None:
    device = FakeDevice(answer(TaskStatus.DEVICE_FAILED), answer(TaskStatus.RETRY_NO_FOLD), OK)
    device.renews = True
    result = go(device, FakeRunner(), run)
    assert (result.device, result.runs, result.failure) == ("emulated", 2, None)
    assert [spec.regroup for spec in device.specs] == [True, True, False]


def test_a_stopped_task_is_not_begun_again_on_a_new_device(run: MapRun) -> None:
    progress = Progress()
    device, cpu = FakeDevice(answer(TaskStatus.DEVICE_FAILED)), FakeRunner()
    device.renews = True
    progress.cancel()
    assert go(device, cpu, run, progress=progress).cancelled and len(device.specs) == 1 and cpu.specs == []


def test_a_task_that_fails_on_the_cpu_too_has_failed(run: MapRun) -> None:
    result = go(FakeDevice(answer(TaskStatus.RUN_ON_CPU)), FakeRunner(answer(TaskStatus.FILTER_FAILED, "exit 3")), run)
    assert result.failure.message == "exit 3" and result.reason == "what happened"


@pytest.mark.parametrize(("status", "code"), [
    (TaskStatus.IO_ERROR, "HD405"), (TaskStatus.COMBINER_FAILED, "HD401"), (TaskStatus.COMBINER_DISORDER, "HD403"),
    (TaskStatus.BAD_INPUT, "HD404"),
])
def test_what_would_fail_on_either_side_fails(run: MapRun, status: TaskStatus, code: str) -> None:
    cpu = FakeRunner()
    assert go(FakeDevice(answer(status)), cpu, run).failure.code == code and cpu.specs == []


def test_a_fold_that_met_an_unreadable_pair_is_not_combined_on_the_device(run: MapRun) -> None:
    device = FakeDevice(answer(TaskStatus.RETRY_NO_FOLD), OK)
    result = go(device, FakeRunner(), run)
    assert [spec.regroup for spec in device.specs] == [True, False] and (result.device, result.runs) == ("emulated", 2)
    assert device.kernels[0][1] is not None and device.kernels[1][1] is None


@pytest.mark.parametrize("change", [{"reducers": 0}, {"combine": None}, {"regroup": False}])
def test_the_combine_kernel_runs_only_where_it_may(run: MapRun, change: dict[str, object]) -> None:
    device = FakeDevice(OK)
    go(device, FakeRunner(), replace(run, job=replace(run.job, **change)))
    assert device.kernels[0][1] is None


def test_a_prologue_that_cannot_run_alone_leaves_the_task_to_the_cpu(run: MapRun) -> None:
    device = FakeDevice()
    result = go(device, FakeRunner(OK), run, FakePrologues("it printed"))
    assert result.reason == "it printed" and result.device == "cpu" and result.failure is None and device.specs == []


def test_a_cancelled_task_is_not_begun_again(run: MapRun) -> None:
    progress = Progress()
    progress.cancel()
    cpu = FakeRunner()
    assert go(FakeDevice(), cpu, run, FakePrologues("stopped"), progress).cancelled and cpu.specs == []
    assert go(FakeDevice(answer(TaskStatus.CANCELLED)), cpu, run).cancelled and cpu.specs == []


def test_a_compressed_file_comes_through_a_pipe_for_either_side(run: MapRun, tmp_path: Path) -> None:
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"one\n"))
    device, cpu = FakeDevice(answer(TaskStatus.RUN_ON_CPU)), FakeRunner(OK)
    result = go(device, cpu, replace(run, split=Split(InputFile(str(tmp_path / "x.gz"), 10, "gzip"), 0, 10)))
    assert device.piped == cpu.piped == [b"one\n"] and result.reason


@pytest.mark.parametrize("status", [TaskStatus.OK, TaskStatus.RUN_ON_CPU])
def test_a_damaged_file_fails_the_task(run: MapRun, tmp_path: Path, status: TaskStatus) -> None:
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"one\n")[:-1])
    split = Split(InputFile(str(tmp_path / "x.gz"), 10, "gzip"), 0, 10)
    failure = go(FakeDevice(answer(status)), FakeRunner(), replace(run, split=split)).failure
    assert failure.code == "HD404" and failure.permanent


def test_a_file_that_shrank_is_not_read_short(run: MapRun, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"012")
    assert go(FakeDevice(), FakeRunner(), run).failure.code == "HD049"


def test_an_output_that_is_not_whole_fails_the_task(run: MapRun) -> None:
    device = FakeDevice(OK)
    write_output(run.out, run.index, [b""])
    device.map_task = lambda *given: OK  # type: ignore[method-assign]
    result = go(device, FakeRunner(), run)
    assert result.failure.code == "HD405" and result.device == "emulated"
