"""Fixtures that several areas share: a copy of the project, a clean environment to run it in, compiled apps."""

from __future__ import annotations

import gc
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from heterodoop.toolchain import cache as build_cache

from . import kept, scheduling
from .alone import DEFAULTS, pytest_runtest_makereport
from .support import Bundles

__all__ = ["pytest_runtest_makereport"]

ROOT = Path(__file__).resolve().parent.parent
for name, value in DEFAULTS.items():
    if name != "HETERODOOP_ARCH" or os.environ.get("HETERODOOP_TEST_DEVICE") != "cuda":
        os.environ.setdefault(name, value)
if "HETERODOOP_SANITIZED" not in os.environ:
    os.environ.setdefault("CXX", kept.quick_compiler())  # what tests compile runs for a few records
# On a busy machine an example takes as long as it likes. Fixtures of a function are folders, which no example depends on.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("any machine")
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "build", "dist", "_native", "*.egg-info", "__pycache__", "*.hdp", ".*_cache", ".hypothesis", "*.so",
    "target",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", choices=["test", "long"], help="only the tests of `make test` or of `make long`")


def pytest_configure(config: pytest.Config) -> None:
    """Whoever starts the run tidies up, not its workers."""
    if not hasattr(config, "workerinput"):
        kept.sweep()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: scheduling.rank(item.nodeid))
    if part := config.getoption("--part"):
        items[:], left = scheduling.shared_out(items, part == "long")
        config.hook.pytest_deselected(items=left)
    if "HETERODOOP_SANITIZED" in os.environ:
        for item in items:
            if why := scheduling.unsanitized(item):
                item.add_marker(pytest.mark.skip(reason=why))


def pytest_collection_finish() -> None:
    """Thousands of tests stay to the end: who collects garbage need not look at them each time, nor as often.

    Tests of the compiler make trees of small objects; collecting took a third of their time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> scheduling.Scopes | None:
    """Unless another way was asked for."""
    return scheduling.Scopes(config, log) if config.getoption("dist") == "load" else None


@pytest.fixture(autouse=True, scope="session")
def signals_as_on_a_terminal() -> None:
    """Tests may run in the background, where SIGINT is ignored (under nohup SIGHUP too), and processes inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project as a fresh clone would be: sources only."""
    target = tmp_path_factory.mktemp("checkout") / "heterodoop"
    shutil.copytree(ROOT, target, ignore=LEFT_OUT, symlinks=True)
    return target


@pytest.fixture(scope="session")
def clean_environment() -> dict[str, str]:
    """The caller's environment without what would lead a new Python to this checkout or this run's native library."""
    unwanted = ("PYTHON", "HETERODOOP_", "VIRTUAL_ENV", "LD_PRELOAD", "COV_", "MAKE", "MFLAGS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    return {**kept, "PIP_NO_COMPILE": "no"}  # which says yes: pip need not compile what is imported once


@pytest.fixture(scope="session")
def quick_compiler() -> str:
    """A value of CXX: a C++ compiler that does not optimise."""
    return kept.quick_compiler()


@pytest.fixture(scope="session")
def bundles() -> Bundles:
    """Apps compiled once, for all workers and runs."""
    return Bundles(kept.bundles())


@pytest.fixture(scope="session")
def module_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """XDG_CACHE_HOME where modules of the emulated device are built once, for all workers and runs; not the user's own."""
    base = tmp_path_factory.getbasetemp()
    return kept.usable_cache() or (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"


@pytest.fixture(scope="module")
def kernel_caches(module_cache: Path, quick_compiler: str) -> Iterator[None]:
    """`kernel_cache` for all tests of a module, and what they share."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(module_cache))
        patch.setenv("CXX", quick_compiler)
        yield


@pytest.fixture
def kernel_cache(module_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs keep modules of the emulated device where all tests do."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(module_cache))


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An XDG_CACHE_HOME of the test's own, where no program was compiled yet.

    What the C library answers and the parts of every filter are there: they take seconds, and are no program's.
    """
    own = tmp_path / "cache"
    for kind in ("cpu", "math", "probe"):
        if (made := build_cache.folder() / kind).is_dir():
            shutil.copytree(made, own / "heterodoop" / kind, ignore=shutil.ignore_patterns(".*"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(own))
    return own
