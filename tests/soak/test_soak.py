"""The soak in a short form, and that it sees what it is there to see."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..support import Bundles
from . import faults, jobs, report, runner
from .jobs import Result
from .report import Totals
from .runner import Pool, Setting


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A folder with a short path: a socket may have to lie in it."""
    folder = Path(tempfile.mkdtemp(prefix="soak-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


def soak(
    scratch: Path, bundles: Bundles, count: int, first: int, families: str = "", devices: str = "cpu", **options: object,
) -> Totals:
    """So many faults of these families (default: all), by one lane."""
    chosen = {name: weight for name, weight in faults.FAMILIES.items() if name in (families.split() or faults.FAMILIES)}
    setting = Setting(scratch, 1, tuple(devices.split()), chosen, mount=False, **options)  # type: ignore[arg-type]
    totals = Totals(first)
    with Pool(setting, bundles) as pool:
        pool.run(runner.seeds(first), lambda: totals.struck >= count, totals.add)
    return totals


def test_forty_faults(scratch: Path, bundles: Bundles) -> None:
    totals = soak(scratch, bundles, 40, 4, devices="cpu filters emulated worker")
    assert not totals.failed, "\n".join(map(report.failure, totals.failed))
    assert totals.struck >= 40 and set(totals.by_family) == set(faults.FAMILIES)


@pytest.mark.parametrize("sabotage", ["wrong", "lost", "leftover", "orphan", "hang"])
def test_what_a_run_must_not_do_is_counted(scratch: Path, bundles: Bundles, sabotage: str) -> None:
    totals = soak(scratch, bundles, 1, 1, "stop", sabotage=sabotage)
    told = report.failure(totals.failed[0])
    assert totals.problems[sabotage] == totals.cases, told
    assert f"--repeat {totals.failed[0]['seed']}" in told


def test_the_oracle_is_right_about_a_text() -> None:
    job = jobs.Job("combined", Path(), (), 1)
    assert jobs.expected(job, b"b a\n\nb") == Result({"part-00000": b"a\t1\nb\t2\n"})


def test_the_page_gets_the_figures(tmp_path: Path) -> None:
    totals = Totals(7)
    told = {"family": "kill", "meant": 3, "struck": 2, "status": 0, "problems": [], "seed": 1}
    totals.add(told)
    totals.add({**told, "problems": [("wrong", "a"), ("orphan", "b")], "status": -9, "seed": 2})
    page = tmp_path / "page.md"
    page.write_text("# Soak\n\n## Results\n\nold\n")
    report.replace_results(page, report.markdown(totals, "command"))
    text = page.read_text()
    assert text.startswith("# Soak\n\n## Results\n\n`command`: 4 faults struck") and "old" not in text
    assert "| wrong output | 1 |" in text and "| kill | 4 | 2 | 1 | 1 | 1 |" in text and "--repeat 2" in text
    assert json.loads(json.dumps(totals.to_json()))["problems"]["orphan"] == 1
