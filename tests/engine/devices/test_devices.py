"""Jobs whose map tasks are meant for a device: what runs there, what is left to the CPU, and what the report says."""

from __future__ import annotations

import json
import string
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from heterodoop.errors import DeviceError, UsageError
from heterodoop.executor import device_pool
from heterodoop.executor.kernel.emulated import DeviceOptions
from heterodoop.executor.native.runtime import TaskStatus
from heterodoop.manifest import FILE

from ...host_programs import HOST, SUM, WORDS, with_host_kernel
from ...support import environment
from ..conftest import parts
from ..fake_device import with_kernel

TEXT = b"b a b\na\tb\n" * 20
COUNTS = b"a\t40\nb\t60\n"


def rows(report: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (report / "attempts.jsonl").read_text().splitlines()]


def test_map_tasks_run_on_the_device_and_the_report_says_so(fake, bundle, run, text) -> None:
    result = run(with_kernel(bundle(WORDS, SUM, SUM, fold=True)), text, device="emulated", split_size=60)
    assert parts(result.output) == [COUNTS] and result.warnings == ()
    maps = [row for row in rows(result.report_folder) if row["attempt"].startswith("m_")]
    assert len(maps) == 4 and {row["device"] for row in maps} == {"emulated"} and all("reason" not in row for row in maps)
    device = result.report["device"]
    assert (device["asked"], device["map_tasks"], device["left_to_cpu"]) == ("emulated", {"emulated": 4}, [])
    assert device["sub_splits"] == fake.closed >= 1 and device["retries"] == 0
    assert all(combine is not None for _, _, combine, _ in fake.tasks)


def test_without_the_option_nothing_goes_to_a_device(fake, bundle, run, text) -> None:
    result = run(with_kernel(bundle(WORDS, SUM, SUM)), text)
    assert fake.tasks == [] and result.report["device"]["map_tasks"] == {"cpu": 1}
    assert rows(result.report_folder)[0]["device"] == "cpu"


@pytest.mark.parametrize("device", ["cpu", "auto"])
def test_a_job_on_the_cpu_loads_nothing_that_is_for_devices(bundle, text, tmp_path, device: str) -> None:
    script = (
        "import sys; from heterodoop import cli; from heterodoop.executor.gpu import gpus; gpus.NODES = ()\n"
        "try: cli.main()\nexcept SystemExit as end: print(end.code, *sys.modules)"
    )
    job = ["run", bundle(WORDS, SUM, SUM), text, "-o", tmp_path / "out", "--device", device, "--quiet"]
    done = subprocess.run([sys.executable, "-c", script, *map(str, job)], capture_output=True, text=True, env=environment())
    status, *modules = done.stdout.split()
    assert status == "0" and parts(tmp_path / "out") == [COUNTS], done.stderr
    ours = ("engine.devices.devices", "executor.device_pool", "engine.devices.first_check", "executor.kernel.gpu_task",
            "executor.kernel.native_device", "executor.worker.client", "executor.kernel.cuda", "toolchain.nvcc",
            "toolchain.cuda_library")
    assert all(find_spec(f"heterodoop.{name}") for name in ours)
    assert not {f"heterodoop.{name}" for name in ours} & set(modules)
    assert not {"pycuda", "numpy", "subprocess", "concurrent.futures", "socket"} & set(modules)


def test_tasks_that_the_device_leaves_are_counted_by_reason(fake, bundle, run, text) -> None:
    fake.answer = lambda spec: TaskStatus.RUN_ON_CPU if spec.start else TaskStatus.OK
    result = run(with_kernel(bundle(WORDS, SUM, SUM)), text, device="emulated", split_size=60)
    assert parts(result.output) == [COUNTS]
    (warning,) = result.warnings
    assert warning.code == "HD410" and fake.message in warning.message
    assert warning.message.startswith("3 of 4 map tasks ran on the CPU")
    assert result.report["device"]["map_tasks"] == {"emulated": 1, "cpu": 3}
    assert result.report["device"]["left_to_cpu"] == [{"reason": fake.message, "tasks": 3}]
    reasons = [row.get("reason") for row in rows(result.report_folder)]
    assert reasons.count(fake.message) == 3 and result.report["stages"]["map"]["refused"] > 0


@pytest.mark.parametrize("opens", [True, False])
def test_tasks_that_are_left_run_as_host_kernels(fake, bundle, filters, run, text, monkeypatch, opens: bool) -> None:
    def closed(native: object, runtime: Path) -> None:
        raise DeviceError("there is none", code="HD413")

    fake.answer = lambda spec: TaskStatus.RUN_ON_CPU
    if not opens:
        monkeypatch.setattr(device_pool, "EmulatedDevice", closed)
    made = with_host_kernel(bundle(WORDS, SUM, SUM, fold=True), filters(HOST))
    result = run(made, text, device="emulated", split_size=60)
    assert parts(result.output) == [COUNTS] and [w.code for w in result.warnings] == ["HD410"]
    maps = [row for row in rows(result.report_folder) if "split" in row]
    assert {(row["ran"], bool(row["reason"])) for row in maps} == {("host kernel", True)} and len(maps) == 4
    assert result.report["map"]["cpu"]["host_kernels"] == 4
    monkeypatch.setenv("MODE", "killed")
    result = run(made, text, out="left", device="emulated", split_size=60)
    assert parts(result.output) == [COUNTS] and [w.code for w in result.warnings] == ["HD410"]


def test_reasons_that_differ_in_numbers_are_one_and_there_are_not_too_many(fake, bundle, run, text) -> None:
    words = iter(string.ascii_letters)

    def answer(spec) -> TaskStatus:
        fake.message = f"reason {next(words)} in record 1" if spec.start % 20 else f"record {spec.start}"
        return TaskStatus.RUN_ON_CPU

    fake.answer = answer
    text.write_bytes(b"word\n" * 41)  # 40 splits with a record, and one that has none left
    result = run(with_kernel(bundle(WORDS, SUM, SUM)), text, device="emulated", split_size=5, cpu_slots=1)
    left = {row["reason"]: row["tasks"] for row in result.report["device"]["left_to_cpu"]}
    assert left["record 0"] == 10 and len(left) == 21 and sum(left.values()) == 40
    assert left["other reasons (attempts.jsonl has all)"] == 11


def test_a_split_without_a_record_is_not_worth_a_warning(fake, bundle, run, tmp_path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    fake.answer = lambda spec: TaskStatus.RUN_ON_CPU
    result = run(with_kernel(bundle(WORDS)), tmp_path / "empty", device="emulated")
    assert result.warnings == () and result.report["device"]["left_to_cpu"] == []
    assert rows(result.report_folder)[0]["reason"] == fake.message


def test_a_program_without_a_kernel_runs_on_the_cpu_with_one_warning(fake, bundle, run, text) -> None:
    result = run(bundle(WORDS, SUM, SUM), text, device="emulated", split_size=60)
    (warning,) = result.warnings
    assert warning.code == "HD411" and "holds no kernel" in warning.message
    assert parts(result.output) == [COUNTS] and fake.tasks == [] and result.report["device"]["map_tasks"] == {"cpu": 4}


def test_the_compilers_refusals_are_named(fake, bundle, run, text) -> None:
    made = bundle(WORDS, SUM, SUM)
    data = json.loads((made / FILE).read_text())
    span = {"file": "map.c", "line": 9, "col": 3, "end": 7}
    message = "variable 'last' is carried from record to record"
    reason = {"code": "HD210", "message": message, "span": span, "text": "", "fix": None}
    data["programs"][0]["gpu_refusals"] = [reason, reason]
    (made / FILE).write_text(json.dumps(data))
    (warning,) = run(made, text, device="emulated").warnings
    assert warning.message.endswith("'last' is carried from record to record (map.c:9:3) [HD210], and 1 more")


def test_a_device_that_cannot_be_opened_leaves_the_tasks_to_the_cpu(fake, bundle, run, text, monkeypatch) -> None:
    def closed(native: object, runtime: Path) -> None:
        raise DeviceError("there is none", code="HD413")

    monkeypatch.setattr(device_pool, "EmulatedDevice", closed)
    result = run(with_kernel(bundle(WORDS, SUM, SUM)), text, device="emulated")
    assert parts(result.output) == [COUNTS] and result.report["device"]["left_to_cpu"][0]["reason"] == "there is none"


def test_a_device_that_failed_is_not_used_again(fake, bundle, run, text, monkeypatch) -> None:
    monkeypatch.setattr(device_pool.EmulatedDevice, "usable", False)
    run(with_kernel(bundle(WORDS, SUM, SUM)), text, device="emulated", split_size=60)
    assert fake.closed == 4


def test_settings_reach_the_device(fake, bundle, run, text) -> None:
    settings = ["gpu.sub-split.bytes=7", "gpu.arena.bytes=8", "emulated.order=random", "emulated.seed=9",
                "emulated.pattern=165", "emulated.memory.bytes=1000000", "gpu.ingest.threads=3"]
    run(with_kernel(bundle(WORDS)), text, device="emulated", settings=[f"heterodoop.{s}" for s in settings])
    assert fake.tasks[0][3] == DeviceOptions(7, 8, 1000000, "random", 9, 165, 3)


@pytest.mark.parametrize(("setting", "why"), [
    ("emulated.order=sideways", "must be forward, reverse or random"),
    ("emulated.order=", "must be forward, reverse or random"),
    ("emulated.pattern=256", "must be from 0 to 255"),
    ("emulated.seed=-1", "must be from 0 to"),
    ("gpu.sub-split.bytes=1k", "must be a whole number"),
    ("gpu.arena.bytes=-1", "must be from 0 to"),
])
def test_settings_that_cannot_be_are_refused(bundle, run, text, setting: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        run(bundle(WORDS), text, settings=[f"heterodoop.{setting}"])
    assert caught.value.code == "HD030"


def test_a_device_that_there_is_not(bundle, run, text, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="must be one of cpu, emulated, cuda") as caught:
        run(bundle(WORDS), text, device="gpu")
    assert caught.value.code == "HD032" and not (tmp_path / "out").exists()
