"""The benchmark's own parts: its text is reproducible and Zipf, and the whole script runs at a small size."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from bench.measure import Contender, interleave

pytestmark = pytest.mark.usefixtures("kernel_cache")
ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench"
SIZE = 3_000_001


def script(name: str, *argv: object) -> subprocess.CompletedProcess[str]:
    """A script of the checkout, as its page calls it."""
    words = [sys.executable, "-m", name, *map(str, argv)]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)


def generate(target: Path, seed: int, size: int = SIZE) -> bytes:
    argv = [sys.executable, BENCH / "data.py", "--size", str(size), "--seed", str(seed), "-o", target]
    subprocess.run([str(a) for a in argv], check=True)
    return target.read_bytes()


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return generate(tmp_path_factory.mktemp("text") / "zipf.txt", 1)


def test_the_same_seed_gives_the_same_text(text: bytes, tmp_path: Path) -> None:
    assert generate(tmp_path / "again.txt", 1) == text
    assert generate(tmp_path / "other.txt", 2)[:1000] != text[:1000]


def test_the_number_of_threads_does_not_matter(text: bytes, tmp_path: Path) -> None:
    script = "import data, pathlib, sys; data.generate(pathlib.Path(sys.argv[1]), int(sys.argv[2]), 1, threads=3)"
    subprocess.run([sys.executable, "-c", script, tmp_path / "three.txt", str(SIZE)], cwd=BENCH, check=True)
    assert (tmp_path / "three.txt").read_bytes() == text


@pytest.mark.parametrize("size", [0, 1, 9, 10, 100, 1 << 20, (1 << 20) + 1])
def test_every_size_is_met_exactly(size: int, tmp_path: Path) -> None:
    data = generate(tmp_path / "sized.txt", 1, size)
    assert len(data) == size and data[-1:] == (b"\n" if size else b"")


def test_lines_and_words_look_like_text(text: bytes) -> None:
    lines = text.splitlines()
    assert max(map(len, lines)) < 110
    assert sum(len(line) + 1 >= 60 for line in lines) / len(lines) > 0.999
    assert set(text) <= set(b" \nabcdefghijklmnopqrstuvwxyz")


def test_word_frequencies_follow_zipf(text: bytes) -> None:
    counts = [n for _, n in Counter(text.split()).most_common(1000)]
    total = len(text.split())
    harmonic = sum(1 / r for r in range(1, 200_001))
    for rank in (1, 10, 100, 1000):
        assert counts[rank - 1] / total == pytest.approx(1 / (rank * harmonic), rel=0.25)


def test_the_benchmark_runs_and_reports(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Title\n\n## Results\n\nold\n")
    sizes = ["--size", "2m", "--memory-size", "3m", "--grep-size", "3m"]
    argv = [*sizes, "--rounds", "1", "--json", tmp_path / "result.json", "--page", page]
    done = script("bench.embedded", *argv)
    assert done.returncode == 0, done.stderr
    rows = {row["what"]: row for row in json.loads((tmp_path / "result.json").read_text())["rows"]}
    assert rows["word count: engine against 2 Unix pipelines"]["value"] > 0
    assert 20 < rows["peak memory, word count of 0.00292969 GiB"]["value"] < 700
    assert "| grep, rare word, 0.00292969 GiB: engine against 2 bare filters |" in done.stdout
    assert page.read_text() == "# Title\n\n## Results\n\n" + done.stdout


@pytest.mark.parametrize("app", ["wordcount", "grep", "station_temperatures"])
def test_a_device_task_is_timed_and_compared(app: str, tmp_path: Path) -> None:
    sizes = ["--sizes", "60k", "--cpu-size", "60k", "--runs", "1"]
    argv = ["--device", "emulated", *sizes, "--only", app, "--json", tmp_path / "rows"]
    done = script("bench.gpu_task", *argv)
    assert done.returncode == 0, done.stderr
    cpu, device = json.loads((tmp_path / "rows").read_text())["rows"]
    assert (cpu["what"], device["what"]) == (f"{app}, one CPU task", app)
    assert device["bytes"] == 60 << 10 and device["seconds"] > 0 and "map" in device["stages"]


def test_a_killed_worker_is_noticed_and_the_output_compared() -> None:
    argv = ["--device", "emulated", "--size", "100k", "--kills", "1", "--only", "kill"]
    done = script("tests.on_gpu.gpu_faults", *argv)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("same output") == 2


def test_the_hosts_own_work_is_measured() -> None:
    argv = ["--sub-splits", "2", "--sub-split", "16k", "--runs", "1", "--only", "wordcount,grep"]
    done = script("bench.host_work", *argv)
    assert done.returncode == 0, done.stderr
    rows = [line.split("|")[1:5] for line in done.stdout.splitlines() if line.startswith(("| wordcount", "| grep"))]
    assert [row[0].strip() for row in rows] == ["wordcount", "grep"]
    for _, counts, each, _ in rows:
        assert [int(n) for n in counts.split(" and ")] == [2, 4] and -5 < float(each) < 50


def test_a_worker_can_be_killed_at_any_step() -> None:
    names = ["begin_copy", "hd_map", "hd_fold", "hd_combine", "hd_ifile"]
    argv = ["--device", "emulated", "--size", "200k", "--only", "steps", "--steps", ",".join(names)]
    done = script("tests.on_gpu.gpu_faults", *argv)
    assert done.returncode == 0, done.stdout + done.stderr
    struck = [line for line in done.stdout.splitlines() if "killed at" in line and "not struck" not in line]
    assert len(struck) == len(names) and all("same output" in line and "1 worker faults" in line for line in struck)


def test_contenders_take_turns_and_are_timed_by_processors_too() -> None:
    turns: list[str] = []

    def work(name: str, rounds: int) -> None:
        turns.append(name)
        subprocess.run([sys.executable, "-c", f"for i in range({rounds}): pass"], check=True)

    long, short = (Contender(name, partial(work, name, rounds)) for name, rounds in (("long", 4_000_000), ("short", 1)))
    absent = Contender("absent", lambda: None, "not here")
    interleave([long, short, absent], 2, lambda _: None)
    assert turns == ["long", "short"] * 2 and len(long.processor) == len(long.seconds) == 2
    assert float(short.against(long).split()[0]) > 1 and short.against(absent) == ""
