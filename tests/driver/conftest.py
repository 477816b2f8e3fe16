"""A fake cluster for tests of what asks one; a driver on the emulated device, and what the CPU makes of the same task."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heterodoop.executor.task.report import AttemptResult

from ..support import ROOT, Bundles
from .client import Attempt
from .fake_yarn import FakeYarn
from .on_cpu import run_on_cpu
from .running import Driver, running

APP = ROOT / "apps" / "wordcount"
SAMPLE = (APP / "sample.txt").read_bytes()[:60_000]


@pytest.fixture
def yarn() -> Iterator[FakeYarn]:
    with FakeYarn() as fake:
        yield fake


@pytest.fixture(scope="session")
def cache(module_cache: Path, quick_compiler: str) -> dict[str, str]:
    """Environment of a driver: modules of the emulated device are built once for all workers."""
    return {"XDG_CACHE_HOME": str(module_cache), "CXX": quick_compiler, "HADOOP_CONF_DIR": "", "HADOOP_HOME": ""}


@pytest.fixture(scope="module")
def driver(cache: dict[str, str]) -> Iterator[Driver]:
    """One that the tests of a module share."""
    with running(environment=cache) as found:
        yield found


@pytest.fixture(scope="session")
def wordcount(bundles: Bundles) -> Path:
    return bundles.get(*((APP / f"{role}.c").read_text() for role in ("map", "combine", "reduce")))


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    (tmp_path / "in.txt").write_bytes(SAMPLE)
    return tmp_path / "in.txt"


@pytest.fixture
def attempt(wordcount: Path, sample: Path) -> Attempt:
    """Word count of a whole small file."""
    return Attempt(wordcount, f"file:{sample}", length=len(SAMPLE), reduces=3)


OnCpu = Callable[..., tuple[AttemptResult, bytes, bytes]]


@pytest.fixture
def on_cpu(tmp_path: Path) -> OnCpu:
    """What the CPU filters make of an attempt's split of a local file: result, index, data."""

    return lambda attempt, path: run_on_cpu(attempt, path, tmp_path / "cpu")
