"""What the two sides of a job, devices and CPU, did of its map tasks: for the report and the lines on the terminal.

A task counts for the side that made its output. One that a device left to the CPU counts there, and `left` says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...executor.task.report import AttemptResult, Totals
from ..job.device_names import EMULATED

GB = 1e9


@dataclass
class Side:
    """Map tasks that are done: bytes of their splits, seconds on their slots (together), sums of what they counted.

    left     tasks of devices that the CPU did.
    host     tasks that host kernels did. left_to_filters: tasks of host kernels that filters did.
    retried  tasks that ran more than once inside their attempt: a device failed, or a fold could not be used.
    """

    tasks: int = 0
    bytes: int = 0
    seconds: float = 0.0
    left: int = 0
    retried: int = 0
    host: int = 0
    left_to_filters: int = 0
    totals: Totals = field(default_factory=Totals)

    def add(self, result: AttemptResult, nbytes: int, seconds: float, tasks: int = 1) -> None:
        """An attempt that did so many."""
        self.tasks += tasks
        self.bytes += nbytes
        self.seconds += seconds
        self.left += bool(result.reason)
        self.retried += result.runs > 1 or bool(result.retried)
        self.host += result.host
        self.left_to_filters += bool(result.left)
        self.totals.add(result)

    def to_json(self, phase: float) -> dict[str, Any]:
        """phase: seconds of the whole map phase, in which the side did all this."""
        counters = self.totals.counters
        return {
            "tasks": self.tasks, "bytes": self.bytes, "records": counters["MAP_INPUT_RECORDS"],
            "pairs": counters["MAP_OUTPUT_RECORDS"], "seconds": self.seconds, "gb_per_second": rate(self.bytes, phase),
            "gb_per_second_of_a_slot": rate(self.bytes, self.seconds), "left_by_device": self.left, "retried": self.retried,
            "host_kernels": self.host, "left_to_filters": self.left_to_filters, "stages": dict(self.totals.seconds),
        }


def rate(nbytes: float, seconds: float) -> float:
    """GB/s; 0 where no time passed."""
    return nbytes / GB / seconds if seconds else 0.0


def device_name(asked: str) -> str:
    """A job's device as the terminal names it, by `--device`. The emulated device is never called a GPU."""
    return EMULATED if asked == EMULATED else "GPU"


def lines(report: Mapping[str, Any]) -> list[str]:
    """What the terminal says of a job that had more than filters: on its tasks of each kind, on the devices' time."""
    return [*_map_lines(report), *_reduce_lines(report)]


def _reduce_lines(report: Mapping[str, Any]) -> list[str]:
    phase, done = report["reduce"], report["tasks"]["reduce"]["done"]
    if not phase["host_kernel"] or not done:
        return []
    left = f", {done - phase['host_kernels']} by filters" if done > phase["host_kernels"] else ""
    return [f"reduce tasks: {done}, {phase['host_kernels']} as host kernels{left}"]


def _map_lines(report: Mapping[str, Any]) -> list[str]:
    map_phase, asked = report["map"], report["device"]["asked"]
    device, cpu, duplicates = map_phase["device"], map_phase["cpu"], map_phase["duplicates"]
    if not map_phase["gpu_slots"]:
        return [f"map tasks: {_done('CPU', cpu)}{_host(cpu)}"] if map_phase["host_kernel"] else []
    name = device_name(asked)
    full = f"the {name} device" if name == EMULATED else f"the {name}"
    text = f"map tasks: {_done(name, device)}, {_done('CPU', cpu)}"
    if map_phase["host_kernel"]:
        text += _host(cpu)
    if cpu["left_by_device"]:
        text += f" ({cpu['left_by_device']} left by {full})"
    if run_twice := sum(duplicates.values()):
        text += f"; {run_twice} run twice, {duplicates['won']} of them sooner on {full}"
    text += _driver(report["device"].get("driver", {}))
    stages = sorted(device["stages"].items(), key=lambda stage: -stage[1])
    spent = ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in stages if stage != "total" and seconds >= 0.005)
    return [text, *([f"{name} seconds: {spent}"] if spent else [])]


def _driver(driver: Mapping[str, Any]) -> str:
    """Whose the devices were, where a driver was there."""
    if driver.get("use") == "driver":
        return f"; by driver {driver['pid']}"
    return f"; not by the driver: {driver['why']}" if driver.get("refused") else ""


def _host(cpu: Mapping[str, Any]) -> str:
    left = f", {cpu['left_to_filters']} left to filters" if cpu["left_to_filters"] else ""
    return f", {cpu['host_kernels']} as host kernels{left}" if cpu["tasks"] else ""


def _done(name: str, side: Mapping[str, Any]) -> str:
    if not side["tasks"]:
        return f"{name} 0"
    return f"{name} {side['tasks']} ({side['bytes'] / GB:.3g} GB, {side['gb_per_second']:.3g} GB/s)"
