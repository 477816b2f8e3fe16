"""What to type to see a failed test alone: shown with every failure. Not a test module."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HEADER = "to see it alone"
DEFAULTS = {  # of the tests' conftest.py
    "HETERODOOP_ARCH": "none",  # only tests of nvcc itself run it: it takes seconds a kernel
    "HETERODOOP_STRICT": "1",  # a fault of our own is an error, where a user only loses his kernel
}
_SANITIZED = ("HETERODOOP_SANITIZED", "HETERODOOP_NATIVE")  # tests/sanitized.py sets them
CALLER = {name: value for name, value in os.environ.items() if name.startswith("HETERODOOP_")
          and name not in _SANITIZED and DEFAULTS.get(name) != value}


def command(nodeid: str, environ: Mapping[str, str] = os.environ, caller: Mapping[str, str] = CALLER) -> str:
    """A line for a shell in the checkout. `caller`: the settings of ours that this run was started with."""
    python = Path(sys.executable)
    words = [f"{name}={shlex.quote(value)}" for name, value in sorted(caller.items())]
    words.append(shlex.quote(str(python.relative_to(ROOT) if python.is_relative_to(ROOT) else python)))
    if "HETERODOOP_SANITIZED" in environ:
        words += ["-m", "tests.sanitized", shlex.quote(os.path.relpath(environ["HETERODOOP_NATIVE"], ROOT))]
    else:
        words += ["-m", "pytest"]
    return " ".join([*words, shlex.quote(nodeid)])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        report.sections.append((HEADER, command(item.nodeid)))
    return report
