"""Word count with the paper's set of optimisations, and with each item left out: verified in all orders of lanes."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from heterodoop import manifest
from heterodoop.compiler.decide import optimisations

from ..support import ROOT, cli_here

pytestmark = pytest.mark.usefixtures("kernel_cache")
PAPER = optimisations.chosen("paper")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    chosen = random.Random(11)
    words = ["a", "word", "words", "counted", "exactly8", "w" * 40, "w" * 41, "w" * 40 + "x"]
    path = tmp_path / "in"
    path.write_text("".join(" ".join(chosen.choices(words, k=chosen.randrange(9))) + "\n" for _ in range(600)))
    return path


def build(app: Path, *options: str) -> Path:
    cli_here("compile", ROOT / "apps" / "wordcount", "-o", app, "--opt", "paper", "--arch", "none", *options)
    return app


@pytest.mark.parametrize("without", ["", *PAPER])
def test_the_bytes_are_the_cpu_s(without: str, text: Path, tmp_path: Path) -> None:
    app = build(tmp_path / "app.hdp", *(["--no-opt", without] if without else []))
    on = {name for p in manifest.load(app).programs if p.kernel is not None for name in optimisations.names(p.kernel.plan)}
    assert on >= set(PAPER) - {without, "scan-aggregation"} and without not in on
    done = cli_here("verify", app, text, "--split-size", "6000", "-r", "3")
    assert b"0 on the CPU only, 0 different" in done.out + done.err and b"task 0" in done.out + done.err


@pytest.mark.parametrize(("without", "merged"), [("texture", True), ("merge-sort", False)])
def test_the_sort_is_the_chosen_one(without: str, merged: bool, text: Path, tmp_path: Path) -> None:
    app = build(tmp_path / "app.hdp", "--no-opt", without)
    done = cli_here("run", app, text, "-o", tmp_path / "out", "--device", "emulated", "--json")
    stats = json.loads(done.out)["device"]
    assert (stats["merge_passes"] > 0, stats["sort_levels"] > 0) == (merged, not merged)
