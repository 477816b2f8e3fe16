"""`heterodoop verify` and `heterodoop run --device` on the command line: what is printed, and exit statuses."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from heterodoop.executor.gpu import gpus
from heterodoop.executor.native.runtime import TaskStatus

from ...support import cli_here, environment
from ..conftest import SUM, WORDS
from ..fake_device import with_kernel

WRONG = WORDS.replace('"%s\\t1\\n"', '"%s\\t2\\n"')


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "in.txt").write_bytes(b"b a b\n" * 10)
    return tmp_path / "in.txt"


def test_equal_tasks_are_listed(fake, bundle, text) -> None:
    fake.answer = lambda spec: TaskStatus.RUN_ON_CPU if spec.start == 30 else TaskStatus.OK
    done = cli_here("verify", with_kernel(bundle(WORDS, SUM, SUM)), text, "--split-size", "30", "-r2", "--cpu-slots", "1")
    assert done.out.decode().splitlines() == [
        f"task 0: {text}, bytes 0 to 30: 6 records, 18 pairs: equal",
        f"task 1: {text}, bytes 30 to 60: CPU only: {fake.message}",
        "map tasks: 1 equal, 1 on the CPU only, 0 different",
    ]
    assert done.err == b""


def test_a_difference_is_shown_with_its_record_and_the_status_is_1(fake, bundle, text, filters) -> None:
    fake.program = lambda options: filters(WRONG) if options.order == "reverse" else None
    done = cli_here("verify", with_kernel(bundle(WORDS, SUM, SUM)), text, "-D", "heterodoop.emulated.seed=2", status=1)
    assert done.out.decode().splitlines() == [
        f"task 0: {text}, bytes 0 to 60: 10 records, 30 pairs: different",
        "  device:  lanes in reverse",
        "  where:   partition 0, pair 1, key 'a'",
        "  CPU:     'a\\t10'",
        "  device:  'a\\t20'",
        "  record:  1 of the split: 'b a b'",
        "  note:    it gives 'b\\t1' on the CPU and 'b\\t2' on the device",
        "map tasks: 0 equal, 0 on the CPU only, 1 different",
    ]
    assert "error[HD412]: 1 of 1 map tasks have another result on the emulated device" in done.message


def test_a_device_without_an_output_is_shown(fake, bundle, text) -> None:
    fake.answer = lambda spec: TaskStatus.DEVICE_FAILED
    done = cli_here("verify", with_kernel(bundle(WORDS)), text, status=1)
    lines = done.out.decode().splitlines()
    assert lines[1:3] == ["  device:  lanes forward, unwritten memory 0x00", f"  output:  none: {fake.message}"]


def test_json(fake, bundle, text, filters) -> None:
    fake.program = lambda options: filters(WRONG)
    found = json.loads(cli_here("verify", with_kernel(bundle(WORDS)), text, "--json", status=1).out)
    assert (found["format"], found["device"], found["different"]) == ("heterodoop-verify-1", "emulated", 1)
    assert found["tasks"][0]["difference"]["record"] == 1 and found["tasks"][0]["outcome"] == "different"


@pytest.mark.parametrize(("arguments", "status", "why"), [
    (["--device", "cpu"], 2, "[HD032]: --device cpu: there is nothing to compare it with"),
    (["--device", "tpu"], 2, "[HD032]: --device 'tpu': must be one of cpu, emulated, cuda"),
    (["-D", "heterodoop.emulated.order=up"], 2, "must be forward, reverse or random"),
    (["--split-size", "x"], 2, "[HD032]"),
])
def test_wrong_usage(fake, bundle, text, arguments: list[str], status: int, why: str) -> None:
    assert why in cli_here("verify", bundle(WORDS), text, *arguments, status=status).message


def test_verify_needs_a_bundle_and_inputs(tmp_path: Path, text) -> None:
    assert "[HD312]" in cli_here("verify", tmp_path, text, status=2).message
    assert "Missing argument" in cli_here("verify", tmp_path, status=2).message


def test_run_warns_of_tasks_that_the_cpu_did(fake, bundle, text, tmp_path) -> None:
    fake.answer = lambda spec: TaskStatus.RUN_ON_CPU
    job = ["run", with_kernel(bundle(WORDS, SUM, SUM)), text, "-o", tmp_path / "out", "--device", "emulated", "--quiet"]
    done = cli_here(*job)
    assert done.message == f"warning[HD410]: 1 of 1 map tasks ran on the CPU, not on the device: {fake.message}\n"
    assert (tmp_path / "out" / "part-00000").read_bytes() == b"a\t10\nb\t20\n"


def test_run_warns_once_of_a_program_without_a_kernel(fake, bundle, text, tmp_path) -> None:
    job = ["run", bundle(WORDS, SUM, SUM), text, "-o", tmp_path / "out", "--device", "emulated", "--json"]
    done = cli_here(*job, "--split-size", "20")
    assert done.message.count("[HD411]") == 1
    report = json.loads(done.out)
    assert report["device"] == {"asked": "emulated", "map_tasks": {"cpu": 3}, "left_to_cpu": []}
    assert report["warnings"][0]["code"] == "HD411"


def test_run_says_what_each_side_did(fake, bundle, text, tmp_path) -> None:
    job = ["run", with_kernel(bundle(WORDS, SUM, SUM)), text, "--split-size", "10", "--device", "emulated"]
    lines = cli_here(*job, "-o", tmp_path / "out", "--policy", "gpu-first").message.splitlines()
    assert re.match(r"map tasks: emulated \d \(\S+ GB, \S+ GB/s\), CPU \d( \(\S+ GB, \S+ GB/s\))?$", lines[0])
    assert lines[-1].startswith("result in ")
    fake.answer = lambda spec: TaskStatus.RUN_ON_CPU
    message = cli_here(*job, "-o", tmp_path / "left").message
    assert "map tasks: emulated 0, CPU 6 (6e-08 GB, " in message and "GB/s) (6 left by the emulated device)" in message
    silent = cli_here(*job[:-2], "-o", tmp_path / "cpu", "--cpu-only").message
    assert silent.startswith("result in "), "a job on the CPU has nothing to tell apart"


@pytest.mark.parametrize(("arguments", "why"), [
    (["--policy", "fifo"], "--policy 'fifo': must be one of cpu-only, gpu-only, gpu-first, tail, paper-tail"),
    (["--device", "cpu", "--policy", "gpu-only"], "--policy gpu-only: no map task could run, since no GPU is used"),
    (["--gpus", "none", "--policy", "gpu-only"], "--policy gpu-only: no map task could run, since no GPU is used"),
    (["--gpus", "first"], "--gpus 'first': must be all, none, or numbers like 0,1"),
    (["--gpus", "0,0", "--cpu-only"], "--gpus '0,0': a GPU is named twice"),
    (["--gpus", "none", "--device", "cuda"], "--gpus none leaves no GPU for --device cuda"),
    (["--ingest-threads", "many"], "--ingest-threads 'many': must be a whole number"),
    (["--cpu-slots", "0", "--device", "emulated"], "--cpu-slots '0': must be from 1 to"),
    (["--cpu-only", "--device", "cuda"], "--cpu-only and --device cuda exclude each other"),
])
def test_run_refuses_options_that_cannot_be(bundle, text, tmp_path, arguments: list[str], why: str) -> None:
    done = cli_here("run", with_kernel(bundle(WORDS)), text, "-o", tmp_path / "out", *arguments, status=2)
    assert why in done.message and not (tmp_path / "out").exists()


@pytest.mark.parametrize("arguments", [["--gpus", "none"], ["--policy", "cpu-only"], ["--policy", "tail", "--cpu-only"]])
def test_run_on_the_cpu_where_nothing_else_is_wanted(fake, bundle, text, tmp_path, arguments: list[str]) -> None:
    done = cli_here("run", with_kernel(bundle(WORDS)), text, "-o", tmp_path / "out", "--json", *arguments)
    found = json.loads(done.out)
    assert found["device"]["map_tasks"] == {"cpu": 1} and found["map"]["gpu_slots"] == 0 and done.err == b""


def test_a_job_on_the_cpu_loads_nothing_of_devices(bundle, text, tmp_path) -> None:
    """With --device auto too, where the machine has no GPU; and by name on any."""
    script = "import sys\nfrom heterodoop import cli\ntry: cli.main()\nfinally: print(*sys.modules, file=sys.stderr)"
    for number, device in enumerate(["cpu", *([] if gpus.present() else ["auto"])]):
        job = ["run", with_kernel(bundle(WORDS)), text, "-o", tmp_path / f"out{number}", "--device", device]
        argv = [sys.executable, "-c", script, *map(str, job)]
        done = subprocess.run(argv, capture_output=True, env=environment(), check=True)
        loaded = set(done.stderr.decode().split())
        assert "heterodoop.engine.run.local" in loaded
        assert not loaded & {"heterodoop.engine.devices.devices", "heterodoop.executor.kernel.cuda", "pycuda",
                             "heterodoop.executor.kernel.gpu_task", "heterodoop.toolchain.nvcc", "concurrent.futures"}


def test_run_refuses_another_device(bundle, text, tmp_path) -> None:
    done = cli_here("run", bundle(WORDS), text, "-o", tmp_path / "out", "--device", "gpu", status=2)
    assert "[HD032]: --device 'gpu': must be one of cpu, emulated, cuda" in done.message and not (tmp_path / "out").exists()
