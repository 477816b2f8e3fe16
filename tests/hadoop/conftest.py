"""A cluster that is only played (`fake_cluster`), for tests without Java; the real one is in cluster/conftest.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .fake_cluster import FakeCluster


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCluster]:
    """A played cluster that the environment names; the plug-in's jar is an empty file."""
    playing = FakeCluster(tmp_path / "cluster")
    jar = tmp_path / "heterodoop-mr.jar"
    jar.touch()
    own = {"HETERODOOP_MR_JAR": str(jar), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for name, value in {**playing.environment, **own}.items():
        monkeypatch.setenv(name, value)
    try:
        yield playing
    finally:
        playing.close()
