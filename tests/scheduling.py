"""Which tests a run has, which worker gets which, and in which order: files as a whole, those that wait most first.

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
# What `make test` leaves to `make long`, since few changes break it and it costs as much as all the rest: benches and soak
# runs, packages, faults and another release of Hadoop, what pages say, nvcc for every app, random programs, large
# simulations, the larger apps, and, in tests/sanitized.py, native code a second time.
LONG = (
    "tests/bench/", "tests/soak/", "tests/test_packaging.py", "tests/test_readme.py", "tests/page/test_browser.py",
    HADOOP + "test_job_faults.py", HADOOP + "test_hadoop_342.py", HADOOP + "test_embedded.py", HADOOP + "test_iterate.py",
    HADOOP + "test_pages.py",
    "tests/compiler/test_kernels.py::test_nvcc_takes", "tests/compiler/test_own_faults.py",
    "tests/compiler/analysis/test_many_paths.py", "tests/compiler/ir/test_ir.py::test_random_expressions",
    "tests/codegen/test_random_searches.py", "tests/codegen/test_run.py", "tests/runtime/core/test_device_core_cuda.py",
    "tests/run/test_random_orders.py", "tests/run/test_random_programs.py", "tests/run/test_unwritten.py",
    "tests/native/test_output.py::test_threads_do_not_race", "tests/native/test_ingest.py::test_threads_do_not_race",
    "tests/scheduler/test_simulate.py::test_a_hundred_thousand", "tests/scheduler/test_simulate.py::test_both_clusters",
    "tests/scheduler/test_spare.py::test_tail_is_hardly_ever", "tests/scheduler/test_policies.py::test_tail_is_not_slower",
    "tests/apps/test_movie_clusters.py", "tests/apps/test_ssb.py", "tests/apps/test_pagerank.py",
    "tests/apps/test_logistic_regression.py", "tests/apps/test_station_temperatures.py",
)
# What tests/sanitized.py runs: what goes deepest into native code, and the property test of whole jobs.
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


def shared_out(items: list[pytest.Item], long: bool) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Of all tests those of `make long`, or those of `make test`; and the others."""
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        (kept if item.nodeid.startswith(LONG) is long else left).append(item)
    return kept, left


def unsanitized(item: pytest.Item) -> str:
    """Why a test cannot run sanitized; "": it can."""
    mark = item.get_closest_marker("unsanitized")
    return mark.kwargs["reason"] if mark else ""


class Scopes(LoadScopeScheduling):
    """A worker takes the next scope, in the order in which pytest has the tests, when it has nothing more to do."""

    def __init__(self, config: pytest.Config, log: Any) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)
