"""What is said of the two sides of a job's map phase."""

from __future__ import annotations

from typing import Any

import pytest

from heterodoop.engine.devices.map_sides import Side, lines, rate
from heterodoop.executor.task.report import AttemptResult


def result(device: str, **more: Any) -> AttemptResult:
    counters = {"MAP_INPUT_RECORDS": 10, "MAP_OUTPUT_RECORDS": 30}
    return AttemptResult(device=device, counters=counters, seconds={"map": 0.5, "total": 0.75}, **more)


def report(
    asked: str, duplicates: tuple[int, int, int] = (0, 0, 0), gpu_slots: int = 2, host: bool = False,
) -> dict[str, Any]:
    device, cpu = Side(), Side()
    for _ in range(3):
        device.add(result("cuda"), 500_000_000, 0.25)
    cpu.add(result("cpu", reason="exit_called in record 3"), 500_000_000, 1.0)
    cpu.add(result("cpu", runs=2, host=host), 500_000_000, 1.0)
    reduces = {"tasks": {"reduce": {"done": 3}}, "reduce": {"host_kernel": False, "host_kernels": 0}}
    return {**reduces, "device": {"asked": asked}, "map": {
        "gpu_slots": gpu_slots, "host_kernel": host, "device": device.to_json(2.0), "cpu": cpu.to_json(2.0),
        "duplicates": dict(zip(("won", "lost", "failed"), duplicates, strict=True))}}


@pytest.mark.parametrize(("driver", "said"), [
    ({"use": "driver", "pid": 7, "folder": "/d", "lost_tasks": 0}, "; by driver 7"),
    ({"use": "own", "why": "it has another umask", "refused": True}, "; not by the driver: it has another umask"),
    ({"use": "own", "why": "none runs", "refused": False}, ""),
])
def test_whose_devices_they_were(driver: dict[str, Any], said: str) -> None:
    found = report("auto")
    before = lines(found)
    found["device"]["driver"] = driver
    assert lines(found) == [before[0] + said, *before[1:]]


def test_a_side_adds_up() -> None:
    found = report("cuda")["map"]
    assert found["device"] == {
        "tasks": 3, "bytes": 1_500_000_000, "records": 30, "pairs": 90, "seconds": 0.75, "gb_per_second": 0.75,
        "gb_per_second_of_a_slot": 2.0, "left_by_device": 0, "retried": 0,
        "host_kernels": 0, "left_to_filters": 0, "stages": {"map": 1.5, "total": 2.25}}
    assert (found["cpu"]["left_by_device"], found["cpu"]["retried"]) == (1, 1)
    assert rate(5, 0.0) == 0.0


@pytest.mark.parametrize(("asked", "name", "full"), [
    ("auto", "GPU", "the GPU"), ("cuda", "GPU", "the GPU"), ("emulated", "emulated", "the emulated device")])
def test_lines(asked: str, name: str, full: str) -> None:
    assert lines(report(asked, (1, 2, 0))) == [
        f"map tasks: {name} 3 (1.5 GB, 0.75 GB/s), CPU 2 (1 GB, 0.5 GB/s) (1 left by {full});"
        f" 3 run twice, 1 of them sooner on {full}",
        f"{name} seconds: map 1.50",
    ]


def test_lines_say_what_ran_as_host_kernels() -> None:
    found = report("auto", gpu_slots=0, host=True)
    assert lines(found) == ["map tasks: CPU 2 (1 GB, 0.5 GB/s), 1 as host kernels"]
    found["map"]["cpu"]["left_to_filters"] = 1
    assert lines(found) == ["map tasks: CPU 2 (1 GB, 0.5 GB/s), 1 as host kernels, 1 left to filters"]
    assert lines(report("cuda", host=True))[0].endswith("CPU 2 (1 GB, 0.5 GB/s), 1 as host kernels (1 left by the GPU)")


def test_a_line_on_reduce_tasks_as_host_kernels() -> None:
    found = report("auto", gpu_slots=0)
    found["reduce"] = {"host_kernel": True, "host_kernels": 3}
    assert lines(found) == ["reduce tasks: 3, 3 as host kernels"]
    found["reduce"]["host_kernels"] = 1
    assert lines(found) == ["reduce tasks: 3, 1 as host kernels, 2 by filters"]
    found["tasks"]["reduce"]["done"] = 0
    assert lines(found) == []


def test_a_job_without_a_device_says_nothing() -> None:
    assert lines(report("auto", gpu_slots=0)) == []
