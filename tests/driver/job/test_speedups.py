"""S of a program's last job, from one driver of a node to its next."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop.driver.job import speedups
from heterodoop.driver.job.speedups import Speedups
from heterodoop.scheduler.node.job import MIB
from heterodoop.scheduler.node.model import Decision
from heterodoop.scheduler.node.programs import REMEMBERED_SECONDS
from heterodoop.scheduler.policies import POLICIES
from heterodoop.toolchain import speeds

from ...scheduler.nodes import Node

TAIL, GPU_FIRST = POLICIES["tail"], POLICIES["gpu-first"]
GPUS = ["H200"]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def measure(node: Node, job: str, gpu: float = 1.0, start: float = 0.0) -> None:
    """Three attempts of each kind; a CPU's take 6 s."""
    for task in range(6):
        on_gpu = task % 2 == 0
        node.offer(hash((job, task)), job, str(task), MIB, 6, GPU_FIRST if on_gpu else POLICIES["cpu-only"], "p", start)
        node.started(hash((job, task)), start)
        node.done(hash((job, task)), gpu if on_gpu else 6.0)


def first_decisions(node: Node, kept: Speedups) -> list[Decision]:
    """Of a job of three tasks."""
    kept.begin("p")
    return [node.offer(lease, "second", str(lease), MIB, 3, TAIL, "p") for lease in range(3)]


def test_a_driver_begins_with_what_the_last_one_measured() -> None:
    node = Node(1)
    kept = Speedups(node, GPUS)
    assert [one.kind for one in first_decisions(Node(1), kept)] == ["gpu", "cpu", "cpu"], "nothing is known"
    measure(node, "first")
    kept.save()
    again = Node(1)
    assert [one.kind for one in first_decisions(again, Speedups(again, GPUS))] == ["gpu"] * 3
    assert not again.measured(), "it has measured nothing itself"
    other = Node(1)
    assert [one.kind for one in first_decisions(other, Speedups(other, ["L4"]))] == ["gpu", "cpu", "cpu"], "another GPU"


def test_a_slow_gpu_gets_nothing_from_the_first_attempt_on() -> None:
    node = Node(1)
    measure(node, "first", gpu=30.0)
    Speedups(node, GPUS).save()
    again = Node(1)
    assert [one.kind for one in first_decisions(again, Speedups(again, GPUS))] == ["cpu"] * 3


def test_what_it_measures_itself_counts_more_and_is_not_written_at_every_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[float] = []
    monkeypatch.setattr(speedups.speeds, "remember", lambda name, found: written.append(found.speedup))
    monkeypatch.setattr(speedups.speeds, "recall", lambda name: speeds.Speeds(100.0, age=5.0))
    node = Node(1)
    kept = Speedups(node, GPUS)
    kept.begin("p")
    kept.save(every=True)
    assert written == [], "what was read is not written again"
    measure(node, "first")
    kept.begin("p")
    for _ in range(2):
        kept.save()
    measure(node, "second", 2.0, start=1.0)
    kept.save()
    assert written == [6.0]
    kept.save(every=True)
    kept.save(every=True)
    assert written == [6.0, 3.0]


def test_what_was_measured_a_day_ago_is_tried_again() -> None:
    node = Node(1)
    node.recall("p", 0.1, REMEMBERED_SECONDS - 5)
    assert node.offer(1, "j", "1", MIB, 9, TAIL, "p", 0.0).kind == "cpu"
    assert node.offer(2, "j", "2", MIB, 9, TAIL, "p", 6.0).kind == "gpu"


def test_an_emulated_device_is_not_remembered(tmp_path: Path) -> None:
    node = Node(1)
    kept = Speedups(node, [])
    measure(node, "first")
    kept.save(every=True)
    kept.begin("q")
    assert not (tmp_path / "heterodoop").exists() and not node.knows("q")
