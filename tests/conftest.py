"""Fixtures that several areas share: a copy of the project, a clean environment to run it in, compiled apps."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from .support import Bundles

ROOT = Path(__file__).resolve().parent.parent
if os.environ.get("HETERODOOP_TEST_DEVICE") != "cuda":
    os.environ.setdefault("HETERODOOP_ARCH", "none")  # only tests of nvcc itself run it: it takes seconds a kernel
os.environ.setdefault("HETERODOOP_STRICT", "1")  # a fault of our own is an error, where a user only loses his kernel
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "build", "dist", "_native", "*.egg-info", "__pycache__", "*.hdp", ".*_cache", ".hypothesis", "*.so",
    "target",
)


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
    return {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}


@pytest.fixture(scope="session")
def quick_compiler(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A C++ compiler that does not optimise: what is built here runs once."""
    path = tmp_path_factory.mktemp("bin") / "quick-g++"
    path.write_text('#!/bin/sh\nexec g++ "$@" -O0\n')
    path.chmod(0o755)
    return str(path)


@pytest.fixture(scope="session")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Bundles:
    """Apps compiled once, for all workers."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    return Bundles(shared / "bundles")


@pytest.fixture
def kernel_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The emulated device's modules: built once for all workers, and not into the user's cache."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared / "cache"))
