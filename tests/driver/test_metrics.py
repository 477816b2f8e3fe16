"""Metrics of a driver: each as the table says, in a text that Prometheus's own parser reads; the units that ask for them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from heterodoop.commands import driver_metrics
from heterodoop.driver import metrics
from heterodoop.driver.tally import Tally
from heterodoop.scheduler.node.machine import BUSY, FULL
from heterodoop.scheduler.node.model import Why

from ..support import ROOT, cli_here
from .client import CPU_DONE, INSTALLED, Attempt
from .running import Driver, driver_folder, in_this_process, wait_for

ON_A_GPU = ("gpu_memory_bytes", "gpu_memory_free_at_start_bytes", "gpu_memory_limit_bytes")
SYSTEMD = ROOT / "templates" / "systemd"


def samples(text: str) -> dict[tuple[str, ...], float]:
    """(name, label=value...) -> value."""
    return {
        (sample.name.removeprefix(metrics.PREFIX), *(f"{name}={value}" for name, value in sorted(sample.labels.items()))):
            sample.value
        for family in text_string_to_metric_families(text) for sample in family.samples
    }


@pytest.fixture
def driver(cache: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Driver]:
    """In this process: nobody else's is started for it."""
    with in_this_process(cache, monkeypatch) as found:
        yield found


def test_what_tasks_did_is_counted(driver: Driver, attempt: Attempt, tmp_path: Path) -> None:
    with driver.client() as client:
        done = client.map(attempt)
        client.send(INSTALLED)
    attempt.policy = "cpu-only"
    with driver.client() as client:
        assert client.map(attempt).kind == "cpu"
        client.send(CPU_DONE, ("seconds", "0.5"))
    wait_for(lambda: driver.status()["counts"].get("cpu_done"))
    said = cli_here("driver", "status", "--metrics", "--dir", driver.folder)
    found = samples(said.out.decode())
    for name, value in {
        ("up",): 1, ("answers_total", "where=gpu"): 1, ("answers_total", "where=cpu"): 1,
        ("attempts_total", "outcome=gpu"): 1,
        ("attempts_total", "outcome=cpu"): 1, ("attempts_total", "outcome=lost"): 0, ("declined_total", "reason=policy"): 1,
        ("gpu_tasks_total", "gpu=0"): 1, ("gpu_input_bytes_total", "gpu=0"): 60_000, ("bytes_total", "direction=in"): 60_000,
        ("bytes_total", "direction=out"): len(done.index) + len(done.data), ("queue_attempts",): 0,
        ("gpu_faults_total", "gpu=0"): 0,
        ("internal_errors_total",): 0,
    }.items():
        assert found[name] == value, name
    assert found["stage_seconds_total", "stage=map"] > 0 and ("stage_seconds_total", "stage=total") not in found
    names = {metrics.PREFIX + name for name, *_ in found}
    assert names == {metrics.PREFIX + one.name for one in (metrics.UP, *metrics.METRICS) if one.name not in ON_A_GPU}
    file = tmp_path / "driver.prom"
    assert cli_here("driver", "status", "--metrics", "--output", file, "--dir", driver.folder).status == 0
    assert samples(file.read_text()).keys() == found.keys()


def test_metrics_follow_prometheus_conventions() -> None:
    for one in metrics.METRICS:
        assert (one.kind == "counter") == one.name.endswith("_total"), one.name
        assert not any(unit in one.name for unit in ("milli", "_mib", "_kb", "percent")), one.name
        assert one.help.endswith(".") and "\n" not in one.help
    assert len({one.name for one in metrics.METRICS}) == len(metrics.METRICS)


def test_labels_with_odd_characters_and_states_of_other_versions() -> None:
    name = 'a "GPU"\\ of\nnobody'
    gpus = [{"gpu": 0, "name": name, "arch": "sm_90"}]
    text = metrics.text_of({"gpus": gpus, "version": "1", "device": "cuda", "jobs": None})
    assert samples(text) == {("up",): 1, ("build_info", "device=cuda", "version=1"): 1,
                             ("gpu_info", "arch=sm_90", "gpu=0", f"name={name}"): 1}


def test_reasons_are_of_a_small_set() -> None:
    tally = Tally()
    for why in (BUSY, FULL, Why("/a/b: no such file", "HD617"), Why("/c/d: no such file", "HD617"), Why("a bug")):
        tally.declined(why)
    assert tally.status()["declined"] == {"busy": 1, "queue-full": 1, "HD617": 2, "other": 1}


def test_a_driver_that_does_not_answer_is_told_in_the_file(tmp_path: Path) -> None:
    with driver_folder() as nobody:
        words = ("driver", "status", "--dir", nobody.folder, "--metrics", "--output")
        gone = cli_here(*words, tmp_path / "driver.prom", status=5)
        assert "[HD613]" in gone.message
        assert samples((tmp_path / "driver.prom").read_text()) == {("up",): 0}
        nowhere = cli_here(*words, tmp_path / "no" / "folder" / "driver.prom", status=5)
        assert "[HD519]" in nowhere.message and "driver.prom: No such file" in nowhere.message


@pytest.mark.parametrize("name", driver_metrics.UNITS)
def test_units_are_printed_with_this_installation_s_command(name: str) -> None:
    own = shutil.which("heterodoop", path=str(Path(driver_metrics.sys.executable).parent))
    source = (SYSTEMD / driver_metrics.UNITS[name]).read_text()
    printed = cli_here("driver", "unit", name).out.decode()
    assert printed == source.replace(driver_metrics.COMMAND, own or driver_metrics.COMMAND)
    keys = [line.partition("=")[0] for line in printed.splitlines() if line and line[0] not in "#["]
    repeated = {key for key in keys if keys.count(key) > 1}
    assert repeated <= {"EnvironmentFile"}


def test_systemd_takes_the_units(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if not analyze:
        pytest.skip("no systemd here; the other tests read the units")
    for name, file in driver_metrics.UNITS.items():
        (tmp_path / file).write_bytes(cli_here("driver", "unit", name).out)
    units = [tmp_path / name.replace("@", "@1000") for name in driver_metrics.UNITS.values() if "@" in name]
    for unit in units:
        unit.write_bytes((tmp_path / unit.name.replace("@1000", "@")).read_bytes())
    done = subprocess.run([analyze, "verify", *units], capture_output=True, text=True)
    ours = [line for line in done.stderr.splitlines() if "heterodoop" in line]
    assert done.returncode == 0 and not ours, done.stderr
