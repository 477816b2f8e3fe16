"""Which worker of a test run gets which tests, and in which order: files as a whole, those that wait most first.

All tests that share a Hadoop go to one worker, which starts it at once, and those that start one of their own go to another:
servers and jobs run beside everything else. Not a test module.
"""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

HADOOP = "tests/hadoop/cluster/"
# These start and end a Hadoop of their own.
OWN_HADOOP = (HADOOP + "test_hadoop_342.py",)
# Longest first, so that no worker begins one of them when the others are done.
FIRST = (HADOOP, "tests/test_readme.py", "tests/test_packaging.py", "tests/soak/", "tests/cases/", "tests/apps/")
# What tests/sanitized.py runs: what goes deepest into native code, and the property test of whole jobs. In the run beside it
# one test of each file is enough to see that it works with the library that users have, and those that cannot run there.
SANITIZED = (
    "tests/native/", "tests/runtime/gpu/test_gpu_task.py", "tests/runtime/gpu/test_gpu_task_input.py",
    "tests/runtime/gpu/test_gpu_task_limits.py", "tests/runtime/gpu/test_gpu_task_output.py",
    "tests/engine/run/test_oracle.py", "tests/run/test_host_reducers.py",
)


def scope(nodeid: str) -> str:
    """Tests of one scope run one after the other in one worker."""
    if nodeid.startswith(OWN_HADOOP):
        return f"{HADOOP} (own)"
    return HADOOP if nodeid.startswith(HADOOP) else nodeid.partition("::")[0]


def rank(nodeid: str) -> int:
    """Sorts tests by when they are to begin."""
    return next((number for number, place in enumerate(FIRST) if nodeid.startswith(place)), len(FIRST))


def shared_out(items: list[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Of the files that run sanitized elsewhere, what stays here, and what does not.

    What cannot run there stays; of a file that has no such test, the first.
    """
    seen = {_file(item) for item in items if unsanitized(item)}
    kept, left = [], []
    for item in items:
        file = _file(item)
        (left if file in seen and file.startswith(SANITIZED) and not unsanitized(item) else kept).append(item)
        seen.add(file)
    return kept, left


def unsanitized(item: pytest.Item) -> str:
    """Why a test cannot run sanitized; "": it can."""
    mark = item.get_closest_marker("unsanitized")
    return mark.kwargs["reason"] if mark else ""


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


class Scopes(LoadScopeScheduling):
    """A worker takes the next scope, in the order in which pytest has the tests, when it has nothing more to do."""

    def __init__(self, config: pytest.Config, log: Any) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)
