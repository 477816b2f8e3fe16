"""The speedup of a bundle's last job, kept in the user's cache."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from heterodoop import manifest
from heterodoop.engine.run import speedups


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / manifest.FILE).write_text("{}")
    offload = SimpleNamespace(gpus=(SimpleNamespace(name="H200"),), sessions=4)
    return SimpleNamespace(bundle=tmp_path, offload=offload, slots=SimpleNamespace(cpu=16))


def test_a_job_begins_with_what_the_last_one_measured(plan: Any, tmp_path: Path) -> None:
    assert speedups.recall(plan) is None
    speedups.remember(plan, None)
    assert speedups.recall(plan) is None, "a job that measured too little"
    speedups.remember(plan, 0.25)
    assert speedups.recall(plan) == 0.25
    plan.slots.cpu = 8
    assert speedups.recall(plan) is None
    plan.slots.cpu = 16
    (tmp_path / manifest.FILE).write_text('{"another": "bundle"}')
    assert speedups.recall(plan) is None


@pytest.mark.parametrize("text", ["", "nan", "-1", "0", "1e300", "fast\n", "\xff"])
def test_what_is_damaged_or_old_is_forgotten(plan: Any, tmp_path: Path, text: str) -> None:
    speedups.remember(plan, 2.0)
    (kept,) = (tmp_path / "cache" / "heterodoop" / "speedups").iterdir()
    old = time.time() - speedups.SECONDS - 1
    os.utime(kept, (old, old))
    assert speedups.recall(plan) is None
    kept.write_text(text, encoding="latin-1")
    assert speedups.recall(plan) is None


def test_an_emulated_device_is_not_remembered(plan: Any, tmp_path: Path) -> None:
    plan.offload.gpus = ()
    speedups.remember(plan, 2.0)
    assert speedups.recall(plan) is None and not (tmp_path / "cache").exists()
