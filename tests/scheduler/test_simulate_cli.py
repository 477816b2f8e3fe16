"""`heterodoop simulate`: what it prints, draws and refuses."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from heterodoop.scheduler.policies import POLICIES
from heterodoop.scheduler.simulate import Shape, simulate
from heterodoop.scheduler.timeline import MOST_ROWS, Chart, chart, svg, ticks

from ..support import cli_here

BOXES = "{http://www.w3.org/2000/svg}rect"


def test_figure_3_of_the_paper() -> None:
    lines = cli_here("simulate").out.decode().splitlines()
    assert lines[0] == "1 node with 1 GPU and 2 CPU slots each; 19 map tasks of 6 s on a CPU slot, 1 s on a GPU"
    rows = [line.split() for line in lines[2:]]
    assert [(row[0], row[1], row[4]) for row in rows] == [
        ("cpu-only", "60", "0"), ("gpu-first", "18", "0"), ("tail", "15", "2"), ("paper-tail", "15", "2")]


def test_one_policy_as_json() -> None:
    options = ["--nodes", 2, "--tasks", 38, "--gpu-seconds", 0.5, "--policy", "tail", "--json"]
    found = json.loads(cli_here("simulate", *options).out)
    assert found["shape"]["speedup"] == 6.0 and found["shape"]["cpu_seconds"] == 3.0
    (outcome,) = found["outcomes"]
    assert (outcome["policy"], outcome["makespan"], outcome["forced"]) == ("tail", 7.5, 4)


def test_the_cap_brings_a_heartbeat() -> None:
    options = ["--nodes", 4, "--cpu-slots", 20, "--tasks", 300, "--speedup", 47, "--policy", "tail", "--json"]
    plain, capped, slow = (
        json.loads(cli_here("simulate", *options, *more).out)
        for more in ([], ["--jobtracker-cap"], ["--jobtracker-cap", "--heartbeat", 2, "--jitter", 0.1, "--learn"]))
    assert plain["conditions"]["heartbeat"] == 0 and capped["conditions"]["heartbeat"] == 0.1
    assert capped["outcomes"][0]["makespan"] < plain["outcomes"][0]["makespan"]
    assert slow["conditions"] == {"heartbeat": 2.0, "cap": True, "jitter": 0.1, "learn": True, "seed": 1}


def test_both_clusters_of_the_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """One speedup of those that the documents show."""
    monkeypatch.setattr("heterodoop.commands.simulate.SPEEDUPS", (47,))
    lines = cli_here("simulate", "--compare").out.decode().splitlines()
    assert "Cluster1    3600       47       188         94      68     336   1.38" in lines
    assert len(lines) == 2 + 4 + 1 and lines[-1].startswith("gain: 0.99 to 4.27, geometric mean 1.80")


def test_nodes_without_gpus_or_cpu_slots() -> None:
    def policies(*options: object) -> list[str]:
        return [line.split()[0] for line in cli_here("simulate", *options).out.decode().splitlines()[2:]]

    assert policies("--gpus", 0) == ["cpu-only"]
    assert policies("--cpu-slots", 0) == ["gpu-first", "tail", "paper-tail"]


@pytest.mark.parametrize("options", [
    ("--nodes", 0), ("--tasks", 0), ("--gpus", -1), ("--cpu-slots", -1), ("--speedup", 0), ("--speedup", "nan"),
    ("--gpu-seconds", -1), ("--heartbeat", 0), ("--jitter", 1), ("--policy", "best"), ("--gpus", 0, "--cpu-slots", 0),
    ("--cpu-slots", 0, "--policy", "cpu-only"), ("--compare", "--policy", "tail"),
    ("--other-job", 0), ("--gpu-down", 3, 3), ("--gpu-down", -1, 3), ("--gpu-down", "nan", 3),
    ("--compare", "--other-job", 1), ("--plot", "x.svg", "--gpu-down", 1, 2),
])
def test_what_cannot_be_simulated(options: tuple[object, ...]) -> None:
    found = cli_here("simulate", *options, status=2)
    assert "HD647" in found.message and not found.out


def test_a_timeline(tmp_path: Path) -> None:
    path = tmp_path / "fig3.svg"
    cli_here("simulate", "--plot", path)
    picture = ElementTree.parse(path).getroot()
    widths = [float(box.get("width", "0")) for box in picture.iter(BOXES) if box.get("height") == "8"]
    # 20 bars of cpu-only's tasks less one; the forced ones have a bar on the GPU and one on the slot they keep.
    assert len(widths) == 19 + 19 + 21 + 21
    titles = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text") if text.get("font-size") == "13"]
    assert titles[2] == "tail: 19 map tasks in 15 s, 2 forced"


def test_a_timeline_of_a_large_cluster_shows_some_nodes() -> None:
    shape = Shape(48, 1, 20, 5760, 6.0)
    found = chart(shape, simulate(shape, POLICIES["tail"], spans=True))
    assert len(found.rows) == 105 <= MOST_ROWS and found.title.endswith("; 5 of 48 nodes are shown")
    assert ElementTree.fromstring(svg([found])) is not None
    check_rows(found)


def check_rows(found: Chart) -> None:
    """No two bars overlap, and GPU rows have GPU bars only."""
    for row, name in enumerate(found.rows):
        bars = sorted((bar for bar in found.bars if bar.row == row), key=lambda bar: bar.start)
        assert bars, name
        assert all(one.end <= other.start for one, other in zip(bars, bars[1:], strict=False)), name
        assert {bar.kind for bar in bars} <= ({"gpu", "forced"} if "GPU" in name else {"cpu", "waits"})


def test_ticks_are_round() -> None:
    assert ticks(15) == [0, 2, 4, 6, 8, 10, 12, 14]
    assert ticks(0.05)[-1] == pytest.approx(0.05) and ticks(94)[1] == 10


def test_a_picture_that_cannot_be_drawn(tmp_path: Path) -> None:
    assert "HD648" in cli_here("simulate", "--plot", tmp_path / "x.gif", status=2).message
    assert "HD648" in cli_here("simulate", "--plot", tmp_path / "no" / "x.svg", status=2).message


def test_what_each_policy_costs() -> None:
    shape = ("--nodes", 2, "--cpu-slots", 4, "--tasks", 100, "--price", "gpu=3.6,cpu=0.36")
    found = json.loads(cli_here("simulate", *shape, "--json").out)["outcomes"]
    assert {one["policy"]: one["cost"] for one in found if one["policy"] in ("tail", "cpu-only")} == pytest.approx({
        one["policy"]: one["makespan"] * 2 * (4 * 0.36 + (3.6 if one["policy"] == "tail" else 0)) / 3600
        for one in found if one["policy"] in ("tail", "cpu-only")})
    assert "      cost\n" in cli_here("simulate", *shape).out.decode()
    assert "cost" not in cli_here("simulate").out.decode()


@pytest.mark.parametrize("price", ["", "cpu", "cpu=-1", "cpu=1,cpu=2", "gpu=1e3", "disk=1"])
def test_what_is_no_price(price: str) -> None:
    assert "HD647" in cli_here("simulate", "--price", price, status=2).message
