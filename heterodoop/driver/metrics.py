"""A driver's state as Prometheus has it: the text exposition format 0.0.4, from what `driver status` is told.

    # HELP heterodoop_driver_queue_attempts Attempts that wait for a GPU.
    # TYPE heterodoop_driver_queue_attempts gauge
    heterodoop_driver_queue_attempts 3

METRICS is the table that docs/operating.md prints. Values are in seconds and bytes; what only grows ends in `_total`, and
begins at 0 with the driver. A driver of an earlier version says less: what it does not say has no samples.
Not here: asking it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

PREFIX = "heterodoop_driver_"
State = Mapping[str, Any]
_DROPPED = ("malformed", "silent", "strangers", "pushed_out", "too_many_connections")
_OUTCOMES = {"installed": "gpu", "installed_host": "host", "cpu_done": "cpu", "closed": "lost"}


class Sample(NamedTuple):
    """A value, and what it is of."""

    value: float
    labels: Mapping[str, object] = {}


class Metric(NamedTuple):
    """A family of samples. kind: "counter" or "gauge".  read: its samples; KeyError and TypeError: the state has none."""

    name: str
    kind: str
    help: str
    read: Callable[[State], Iterable[Sample]]
    labels: tuple[str, ...] = ()


def _value(*path: str) -> Callable[[State], Iterable[Sample]]:
    """One sample, of what stands there in the state."""
    def read(state: State) -> list[Sample]:
        found: Any = state
        for name in path:
            found = found[name]
        return [Sample(float(found))]

    return read


def _sums(of: str, label: str) -> Callable[[State], Iterable[Sample]]:
    return lambda state: [Sample(value, {label: name}) for name, value in sorted(state["sums"][of].items())]


def _counts(names: Mapping[str, str], label: str) -> Callable[[State], Iterable[Sample]]:
    """Also of what never happened: a series that begins at 0 has a rate."""
    return lambda state: [Sample(state["counts"].get(name, 0), {label: said}) for name, said in names.items()]


def _gpus(value: Callable[[Any], float], *more: str) -> Callable[[State], Iterable[Sample]]:
    """One sample a GPU that says it. more: labels beside its number."""
    def read(state: State) -> Iterator[Sample]:
        for gpu in state["gpus"]:
            try:
                yield Sample(value(gpu), {name: gpu[name] for name in ("gpu", *more)})
            except KeyError:
                continue

    return read


METRICS = (
    Metric("build_info", "gauge", "1; the labels say which driver it is.",
           lambda state: [Sample(1, {"version": state["version"], "device": state["device"]})], ("version", "device")),
    Metric("start_time_seconds", "gauge", "When the driver began, since the epoch.", _value("since")),
    Metric("uptime_seconds", "gauge", "Since then.", lambda state: [Sample(max(0.0, time.time() - state["since"]))]),
    Metric("stopping", "gauge", "1 where it gives out nothing more.", _value("stopping")),
    Metric("answers_total", "counter", "Map attempts that were told where to run.",
           _counts({"answered_gpu": "gpu", "answered_host": "host", "answered_cpu": "cpu"}, "where"), ("where",)),
    Metric("attempts_total", "counter",
           "Map attempts by their end: a result of a GPU or a host kernel installed, done by the filter, or lost (killed, or"
           " failed).",
           _counts(_OUTCOMES, "outcome"), ("outcome",)),
    Metric("declined_total", "counter", "Attempts without a GPU, by reason: a word, or a code of the error index.",
           _sums("declined", "reason"), ("reason",)),
    Metric("loans_total", "counter", "Times that a `heterodoop run` asked for a GPU.", _value("lent", "times")),
    Metric("loans", "gauge", "Of these, those that have or await one now.",
           lambda state: [Sample(len(state["lent"]["now"]))]),
    Metric("queue_attempts", "gauge", "Attempts that wait for a GPU or a host kernel's slot.", _value("queue", "waiting")),
    Metric("queue_limit_attempts", "gauge", "That may wait.", _value("queue", "limit")),
    Metric("running_tasks", "gauge", "Tasks on GPUs, and host kernels.", _value("queue", "running")),
    Metric("connections", "gauge", "Open connections.", _value("connections")),
    Metric("jobs", "gauge", "Jobs that it knows.", _value("jobs")),
    Metric("bytes_total", "counter", "Of tasks that GPUs did: input, and output that was sent.",
           _sums("bytes", "direction"), ("direction",)),
    Metric("stage_seconds_total", "counter",
           "Of these tasks, by stage. `map` and `device_combine` are kernels; the `_cpu` ones are processor time.",
           _sums("seconds", "stage"), ("stage",)),
    Metric("gpu_info", "gauge", "1 for each GPU.", _gpus(lambda gpu: 1, "name", "arch"), ("gpu", "name", "arch")),
    Metric("gpu_in_service", "gauge", "0 where it gets no tasks.", _gpus(lambda gpu: not gpu["out_of_service"]), ("gpu",)),
    Metric("gpu_ready", "gauge", "1 where a task would begin at once.", _gpus(lambda gpu: gpu["ready"]), ("gpu",)),
    Metric("gpu_tasks_total", "counter", "Tasks that it did.", _gpus(lambda gpu: gpu["tasks"]), ("gpu",)),
    Metric("gpu_input_bytes_total", "counter", "Bytes of their splits.", _gpus(lambda gpu: gpu["bytes"]), ("gpu",)),
    Metric("gpu_busy_seconds_total", "counter", "Seconds that they took, of all its sessions together.",
           _gpus(lambda gpu: gpu["seconds"]), ("gpu",)),
    Metric("gpu_faults_total", "counter", "Workers that were replaced, for a fault or one that was killed.",
           _gpus(lambda gpu: gpu["restarts"]), ("gpu",)),
    Metric("gpu_memory_bytes", "gauge", "Its memory.", _gpus(lambda gpu: gpu["memory_total"]), ("gpu",)),
    Metric("gpu_memory_free_at_start_bytes", "gauge", "Of it, free when its worker began.",
           _gpus(lambda gpu: gpu["memory_free_at_start"]), ("gpu",)),
    Metric("gpu_memory_share_ratio", "gauge", "Of it, this driver's part, from 0 to 1.",
           _gpus(lambda gpu: gpu["share"] / 100), ("gpu",)),
    Metric("gpu_memory_limit_bytes", "gauge", "That tasks may take, where others have a part too.",
           _gpus(lambda gpu: gpu["memory_limit"]), ("gpu",)),
    Metric("host_slots", "gauge", "Host kernels at a time (`--cpu`).", _value("host", "slots")),
    Metric("host_tasks_total", "counter", "Tasks that host kernels did.", _value("host", "tasks")),
    Metric("host_input_bytes_total", "counter", "Bytes of their splits.", _value("host", "bytes")),
    Metric("host_busy_seconds_total", "counter", "Seconds that they took.", _value("host", "seconds")),
    Metric("split_memory_bytes", "gauge", "Host memory that splits have.", _value("memory", "splits")),
    Metric("split_memory_limit_bytes", "gauge", "That they may have.", _value("memory", "limit")),
    Metric("resident_memory_bytes", "gauge", "Of the driver's process, without its workers.", _value("memory", "resident")),
    Metric("store_bytes", "gauge", "Of jobs' files on disk.", _value("store", "bytes")),
    Metric("store_limit_bytes", "gauge", "That they may have.", _value("store", "limit")),
    Metric("dropped_connections_total", "counter", "Connections that were closed without a lease.",
           _counts({name: name for name in _DROPPED}, "reason"), ("reason",)),
    Metric("internal_errors_total", "counter", "Bugs: the driver's log has their traces.",
           _counts({"internal_errors": ""}, "")),
)
UP = Metric("up", "gauge", "1 where a driver answers, else 0.", lambda state: [Sample(bool(state))])


def text_of(state: State) -> str:
    """The text. An empty state: no driver answers."""
    return "".join(_family(metric, state) for metric in (UP, *(METRICS if state else ())))


def markdown_rows() -> list[str]:
    """The table of docs/operating.md."""
    return [
        f"| `{PREFIX}{one.name}` | {one.kind} | {', '.join(f'`{label}`' for label in one.labels) or '-'} | {one.help} |\n"
        for one in (UP, *METRICS)
    ]


def _family(metric: Metric, state: State) -> str:
    name = PREFIX + metric.name
    try:
        samples = list(metric.read(state))
    except (KeyError, TypeError):
        samples = []
    if not samples:
        return ""
    return "".join([
        f"# HELP {name} {_escaped(metric.help)}\n# TYPE {name} {metric.kind}\n",
        *(f"{name}{_labels(sample.labels)} {_number(sample.value)}\n" for sample in samples),
    ])


def _labels(labels: Mapping[str, object]) -> str:
    said = [f'{name}="{_quoted(str(value))}"' for name, value in labels.items() if name]
    return f"{{{','.join(said)}}}" if said else ""


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', r"\"")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
