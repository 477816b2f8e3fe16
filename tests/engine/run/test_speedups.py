"""What a bundle's last job measured, kept in the user's cache for the next."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from heterodoop import manifest
from heterodoop.engine.run import speedups
from heterodoop.scheduler.estimates import Remembered
from heterodoop.toolchain import short_jobs

MIB = 1 << 20
MEASURED = Remembered(8.0, 8.0 * 0.01 / MIB, 2 * 0.01 / MIB, 0.5, 0.25)  # two sessions of each GPU


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / manifest.FILE).write_text("{}")
    offload = SimpleNamespace(gpus=(SimpleNamespace(name="H200"), SimpleNamespace(name="H200")), sessions=4, driver={})
    return SimpleNamespace(bundle=tmp_path, offload=offload, host=None,
                           slots=SimpleNamespace(cpu=16, gpus=2, every=range(20)))


def test_a_job_begins_with_what_the_last_one_measured(plan: Any, tmp_path: Path) -> None:
    assert speedups.recall(plan) is None
    speedups.remember(plan, None)
    assert speedups.recall(plan) is None, "a job that measured too little"
    speedups.remember(plan, MEASURED)
    assert speedups.recall(plan) == pytest.approx(MEASURED, rel=1e-5)
    speedups.remember(plan, Remembered(0.25))
    assert speedups.recall(plan) == Remembered(0.25), "nothing but S"


def test_the_least_waking_counts(plan: Any) -> None:
    for wakes, kept in ((0.5, 0.5), (0.8, 0.55), (0.3, 0.3)):
        speedups.remember(plan, MEASURED._replace(wakes=wakes))
        found = speedups.recall(plan)
        assert found and found.wakes == pytest.approx(kept) and found.first == pytest.approx(0.25)
        assert short_jobs.waking() == pytest.approx(kept + 0.25, rel=0.1)


@pytest.mark.parametrize("change", [
    lambda plan: setattr(plan.slots, "cpu", 8), lambda plan: setattr(plan, "host", "a host kernel"),
    lambda plan: setattr(plan.offload, "gpus", plan.offload.gpus[:1]),
    lambda plan: setattr(plan.offload, "driver", {"use": "driver"}),
    lambda plan: (plan.bundle / manifest.FILE).write_text('{"another": "bundle"}'),
    lambda plan: (plan.bundle / manifest.FILE).unlink(),
])
def test_not_of_another_bundle_nor_of_what_is_not_as_fast(plan: Any, change: Any) -> None:
    speedups.remember(plan, MEASURED)
    change(plan)
    assert speedups.recall(plan) is None


def test_nor_on_another_machine_with_the_same_home(plan: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    speedups.remember(plan, MEASURED)
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(nodename="another"))
    assert speedups.recall(plan) is None


@pytest.mark.parametrize("gpus", [(), (SimpleNamespace(name="emulated"),)])
def test_an_emulated_device_is_not_remembered(plan: Any, tmp_path: Path, gpus: Any) -> None:
    plan.offload.gpus = gpus
    speedups.remember(plan, MEASURED)
    assert speedups.recall(plan) is None and not (tmp_path / "cache").exists()
