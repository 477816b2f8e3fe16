"""The paper's figures: what is left to measure, estimates, bars, tables, and the whole on the emulated device."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench import app_inputs
from bench.figures import bars, bundles, paper, steps
from bench.figures.__main__ import parser, replaced
from bench.figures.job import shape
from bench.figures.jobs_table import Jobs
from bench.figures.lanes import Lane, divide, visible_gpus
from bench.figures.options import MIB, Options
from bench.figures.requests import Request
from bench.figures.runner import one_per_core, told
from bench.figures.state import Record, State, StateError
from bench.figures.steps import EIGHT, Step, expected, pending
from bench.figures.tables import BEGIN, END, Section, ordered

ROOT = Path(__file__).resolve().parents[2]
APPS = "blackscholes,grep"
ONLY = "own,default,paper,vectorized,cpu-only,tail"
MEASURED = 2 * (1 + 2 + 2 + 2)  # apps, times the cpu, task, items and job measurements that ONLY names


def measured(size: int, seconds: float, **more: object) -> Record:
    return {"bytes": size, "seconds": seconds, "runs": [seconds], "took": 5.0, "card": "A card", "stages": {}, **more}


@pytest.fixture
def options(tmp_path: Path) -> Options:
    return Options(state=tmp_path / "state")


@pytest.fixture
def state(options: Options) -> State:
    """Two apps, one of which reaches its bar; one job that was measured in two rounds."""
    made = State(options.state)
    made.put("wordcount", "cpu", "own", measured(800 * MIB, 20.0, deviation=0.013))
    stages = {"map": 0.02, "sort": 0.01}
    made.put("wordcount", "task", "default", measured(1 << 30, 0.05, stages=stages, wanted_bytes=1 << 30))
    made.put("wordcount", "task", "plain", measured(64 * MIB, 0.9, stages={"sort": 0.8}, wanted_bytes=1 << 30))
    made.put("wordcount", "items", "paper", measured(64 * MIB, 0.4, stages={"map": 0.02, "sort": 0.3}))
    made.put("wordcount", "items", "block-stealing", measured(64 * MIB, 0.5, stages={"map": 0.03, "sort": 0.4}))
    made.put("wordcount", "items", "texture", {"no_effect": True, "bytes": 64 * MIB, "card": "A card"})
    for number, seconds in enumerate((40.0, 44.0), 1):
        job = {"phases": {"map": 36.0}, "map_tasks": {"cpu": 48}, "digest": "same", "split": 64 * MIB,
               "job_cores": 16}
        made.put("wordcount", "job", f"cpu-only round-{number}", measured(30 << 30, seconds, **job))
        made.put("wordcount", "job", f"tail round-{number}", measured(30 << 30, seconds / 5, **job))
    made.put("kmeans", "cpu", "own", measured(20 * MIB, 20.0, deviation=0.0))
    made.put("kmeans", "task", "default", measured(256 * MIB, 5.12, stages={"map": 5.0, "read": 0.1}))
    made.put("kmeans", "task", "paper", {"failed": "its process ended with signal 11", "card": "A card"})
    return made


def test_the_eight_apps_are_the_papers_and_all_have_data_and_a_bar() -> None:
    assert set(EIGHT) == set(paper.TABLE2) == set(bars.BARS)
    assert set(EIGHT) <= set(app_inputs.INPUTS) == {path.parent.name for path in (ROOT / "apps").glob("*/map.c")}


def test_fig7_names_items_of_the_papers_set_and_stages_of_a_task(options: Options) -> None:
    items = steps.names("kmeans", "items", options)
    assert {effect.item for effect in paper.FIG7} <= set(items) and items[0] == "paper"
    assert {effect.stage for effect in paper.FIG7} <= {name for names in bars.STAGES.values() for name in names}


def test_only_apps_with_a_texture_form_have_that_configuration(options: Options) -> None:
    assert steps.names("kmeans", "task", options) == ["default", "plain", "paper", "texture"]
    assert steps.names("grep", "task", options) == ["default", "plain", "paper"]
    assert steps.names("grep", "long-line", options) == [] and len(steps.names("histmovies", "long-line", options)) == 2


def test_rounds_of_a_job_take_turns_and_gpus_are_named(tmp_path: Path) -> None:
    names = steps.names("grep", "job", Options(state=tmp_path, rounds=2, gpus=(1, 2)))
    policies = ("gpu-first", "tail", "gpu-first-gpus-2", "tail-gpus-2")
    assert names[:6] == [f"{c} round-1" for c in ("filters", "cpu-only", *policies)]
    assert len(names) == 12 and names[6] == "filters round-2"
    assert steps.policy_of("tail-gpus-2") == ("tail", 2) and steps.policy_of("gpu-first") == ("gpu-first", 1)
    assert steps.policy_of("ingest") == ("tail", 1)


def test_what_has_a_record_is_done_even_if_it_failed(options: Options, state: State) -> None:
    left = pending(steps.steps(["kmeans"], "task", options), state)
    assert [step.name for step in left] == ["plain", "texture"]
    state.forget_failed("kmeans", "task")
    assert "paper" in [step.name for step in pending(steps.steps(["kmeans"], "task", options), state)]


def test_a_measurement_is_expected_to_take_what_its_kind_took(options: Options, state: State) -> None:
    assert expected(Step("grep", "cpu", "own"), options, state) == 5.0
    assert expected(Step("grep", "cpu", "native"), options, state) == pytest.approx(27.0)
    state.put("grep", "task", "default", measured(1 << 30, 0.03) | {"took": 9.5})
    assert expected(Step("kmeans", "task", "plain"), options, state) == 9.5
    line, together = told([Step("kmeans", "task", "plain"), Step("kmeans", "task", "texture")], options, state)
    assert (line, together) == ("task: 2 measurements, about 22 s (kmeans)", "together about 22 s")


def test_seconds_and_sizes_shrink_together_but_never_to_nothing(tmp_path: Path) -> None:
    small = Options(state=tmp_path, scale=1e-6)
    assert small.app_size("grep") == small.app_size("kmeans") == 16 << 10 and 0 < small.seconds(20) < 1
    assert Options(state=tmp_path).app_size("kmeans") == 256 * MIB


def test_a_job_is_sized_by_what_one_core_does(tmp_path: Path) -> None:
    big = shape("wordcount", 40e6, 16, Options(state=tmp_path))
    assert (big.size, big.copies, big.split) == (1 << 30, 18, 256 * MIB)
    slow = shape("kmeans", 0.5e6, 16, Options(state=tmp_path))
    assert slow.copies == 1 and slow.total == pytest.approx(0.5e6 * 16 * 30, rel=0.001)
    assert slow.total / slow.split >= 48


def test_the_page_shows_what_was_measured() -> None:
    """The section in the documents is what `report` makes of the measurements kept beside it; so are the bars it claims."""
    page = (ROOT / "docs" / "paper-figures.md").read_text(encoding="utf-8")
    section = page[page.index(BEGIN) : page.index(END) + len(END) + 1]
    pictures = re.findall(r"^!\[(.*)\]\((.*)\)$", section, re.MULTILINE)
    assert len(pictures) == 4 and all((ROOT / "docs" / path).exists() for _, path in pictures)
    kept = State(ROOT / "docs" / "figures" / "h200")
    assert section == Section(kept, ordered(kept), pictures).text()


def test_tasks_side_by_side_do_not_share_a_core() -> None:
    assert one_per_core(range(8), lambda n: f"{n % 4},{n % 4 + 4}") == [0, 1, 2, 3]
    assert one_per_core([2, 3, 4, 5], lambda n: f"{n // 2}") == [2, 4]
    assert one_per_core([0, 1], str) == [0, 1]


def test_a_request_arrives_as_it_was_sent(options: Options, tmp_path: Path) -> None:
    sent = Request(options, "grep", "task", ("default",), 9.0, "sm_90", {"card": "A card"}, tmp_path / "marker", (3, 4))
    assert Request.from_json(sent.to_json()) == sent


def test_lanes_share_nothing_and_have_neighbouring_processors() -> None:
    four = divide(4, range(64), ["0", "1", "2", "3"], 1)
    assert [lane.processors for lane in four] == [tuple(range(n, n + 16)) for n in (0, 16, 32, 48)]
    assert [lane.gpus for lane in four] == ["0", "1", "2", "3"]
    assert [lane.gpus for lane in divide(2, range(8), ["5", "6", "7", "8"], 2)] == ["5,6", "7,8"]
    assert divide(2, range(3), [], 0) == [Lane((0,)), Lane((1,))]
    assert divide(1, range(3), ["0"], 1) == [Lane()] and Lane().environment() == dict(os.environ)
    assert Lane((0,), "7").environment()["CUDA_VISIBLE_DEVICES"] == "7"


@pytest.mark.parametrize(("cores", "gpus"), [(1, ["0", "1"]), (8, ["0"]), (8, ["0", "1", "2"])])
def test_too_few_for_the_lanes_is_refused(cores: int, gpus: list[str]) -> None:
    with pytest.raises(StateError, match=f"--lanes 2: this machine has {cores} processors and {len(gpus)} GPUs"):
        divide(2, range(cores), gpus, 2 if len(gpus) == 3 else 1)


def test_the_gpus_to_divide_are_those_that_a_user_left_visible(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,1")
    assert visible_gpus() == ["3", "1"]
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho 0\necho 1\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert visible_gpus() == ["0", "1"]
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
    assert visible_gpus() == []


def test_apps_are_expected_to_be_measured_at_a_time(options: Options, state: State) -> None:
    left = [Step(app, "job", "tail round-1") for app in ("grep", "kmeans", "wordcount", "blackscholes")]
    one, two = (list(told(left, replace(options, lanes=lanes), state))[-1] for lanes in (1, 2))
    assert (one, two) == ("together about 32 s", "together about 16 s")


@pytest.mark.parametrize(("app", "speedup", "gigabytes", "met"), [
    ("wordcount", 200.0, 1.0, True), ("wordcount", 199.0, 99.0, False), ("grep", 3.0, 30.0, True),
    ("grep", 19.0, 29.0, False),
])
def test_either_of_two_bars_will_do(app: str, speedup: float, gigabytes: float, met: bool) -> None:
    assert bars.BARS[app].met(speedup, gigabytes) is met


def test_a_bar_that_is_not_met_says_what_bounds_the_task() -> None:
    device, core = measured(256 * MIB, 5.12, stages={"map": 5.0, "read": 0.1}), measured(20 * MIB, 20.0)
    assert bars.verdict("kmeans", device, core) == "at least 100 x: **not met**, bound by map, 98 %"
    assert bars.verdict("kmeans", measured(256 * MIB, 2.0), core) == "at least 100 x: met"
    assert bars.verdict("pagerank", device, core) == ""


def test_the_whole_node_has_a_mean_and_a_least() -> None:
    every = dict.fromkeys(EIGHT, 4.0) | {"grep": 0.9, "kmeans": 30.0}
    mean, least = bars.whole_node(every, EIGHT)
    assert mean == "Geometric mean of tail against the CPU alone: 4.27 x (at least 4 x: met)."
    assert least == "The least gain is grep's, 0.90 x (none below 1 x: **not met**)."
    (some, _) = bars.whole_node({"kmeans": 5.0}, EIGHT)
    assert "met so far" in some and "grep" in some
    assert bars.whole_node({}, EIGHT) == ["No whole job was measured."]


def test_a_figure_has_rows_of_one_card_only(state: State) -> None:
    state.check_card("A card", steps.PARTS)
    with pytest.raises(StateError, match=r"measured on A card, this machine has Another.*Fig\. 5"):
        state.check_card("Another", ["task"])
    state.check_card("Another", ["long-line"])  # nothing of that figure was measured yet


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "grep.json").write_text("{}")
    with pytest.raises(StateError, match="not a state of this bench"):
        State(tmp_path).records("grep", "cpu")


def test_the_section_has_every_number_beside_the_papers(state: State) -> None:
    text = Section(state, ordered(state)).text()
    row = "| wordcount | 41.9 | - | +1.3 % | 21.5 | 512 | 1.78 | - | - | in its picture only | at least 200 x: met |"
    assert row in text.splitlines()
    assert "| kmeans | 1.05 | - | +0.0 % | 0.0524 | 50 | - | failed | - |" in text
    assert "**Failed**, its process ended with signal 11: kmeans paper." in text
    assert "Measured on 64 MiB, since they are slow: wordcount plain." in text
    assert "| 7 d | block-stealing, map | 1.36 x | 1.50 x | ? |" in text and "| 7 a | texture, map | 2 x | - | ? |" in text
    assert "| wordcount | 90 | 91 |" in text and "\nOn 16 cores. Whole commands" in text
    assert "| wordcount | 30 (64) | tail | 8.00 | 10 % | 5.00 x | 48 CPU | equal |" in text
    assert "grep, histmovies, histratings" in text and "not measured: the mean is of 1 apps" in text


def test_outputs_that_differ_are_said_to(state: State) -> None:
    rows = state.records("wordcount", "job")
    state.put("wordcount", "job", "tail round-2", rows["tail round-2"] | {"digest": "another"})
    assert any("tail" in line and "**differs**" in line for line in Jobs(state, ["wordcount"]).lines())


def test_only_the_marked_section_of_a_page_is_replaced() -> None:
    page = f"# Title\n\n{BEGIN}\nold\n{END}\n\nrest\n"
    assert replaced(page, f"{BEGIN}\nnew\n{END}\n") == f"# Title\n\n{BEGIN}\nnew\n{END}\n\nrest\n"
    with pytest.raises(StateError, match="no section"):
        replaced("# Title\n", "")


def test_the_benchmark_page_has_the_section() -> None:
    page = (ROOT / "docs" / "paper-figures.md").read_text(encoding="utf-8")
    assert page.count(BEGIN) == page.count(END) == 1 and page.index(BEGIN) < page.index(END)


def test_the_pages_commands_are_ones_that_the_bench_takes() -> None:
    page = (ROOT / "docs" / "paper-figures.md").read_text(encoding="utf-8")
    commands = re.findall(r"^python -m bench\.figures (.*)$", page, re.MULTILINE)
    parsed = [parser().parse_args(shlex.split(command, comments=True)) for command in commands]
    assert [found.command for found in parsed] == ["prepare", "measure", "measure", "measure", "report"]
    assert parsed[2].limit == 540 and parsed[2].bundles == parsed[0].bundles
    assert parsed[4].state == parsed[3].state == parsed[2].state


def test_prepared_bundles_are_used_while_they_fit(tmp_path: Path) -> None:
    made, folder = tmp_path / "grep-default.hdp", tmp_path / "prepared"
    made.mkdir()
    (made / "bin").write_text("prepared")
    folder.mkdir()
    bundles._pack([made], folder / "grep.tar.xz")
    index = {"arch": "sm_90", "hashes": {"grep": bundles.source_hash("grep")}}
    (folder / "index.json").write_text(json.dumps(index))
    found = bundles.Bundles(tmp_path / "scratch", "sm_90", folder)
    assert (found.get("grep", "default") / "bin").read_text() == "prepared"
    assert found.device() is None
    (folder / "index.json").write_text(json.dumps(index | {"hashes": {"grep": "of older sources"}}))
    stale = bundles.Bundles(tmp_path / "other", "sm_90", folder)
    stale._unpack("grep")
    assert not list((tmp_path / "other").rglob("bin"))


def test_every_variant_is_one_that_the_compiler_takes() -> None:
    variants = bundles.variants("kmeans")
    assert {"default", "plain", "paper", "texture", "paper-without-texture"} <= set(variants)
    assert "texture" not in bundles.variants("grep")
    assert all(word.startswith("--no-opt=") for word in variants["plain"])


class Bench:
    """`python -m bench.figures` on the emulated device, with inputs of some kilobytes."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.state, self.folder, self.environment = folder / "state", folder, environment

    def __call__(self, *words: object, status: int = 0) -> str:
        argv = [sys.executable, "-m", "bench.figures", *map(str, words), "--state", str(self.state)]
        done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False, env=self.environment)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    def measure(self, *words: object, status: int = 0) -> str:
        small = ["--device", "emulated", "--scale", "0.00005", "--apps", APPS, "--parts", "cpu,task,items,job"]
        counts = ["--only", ONLY, "--rounds", "1", "--ingest", "", "--runs", "2", "--cpu-at-a-time", "2"]
        return self(*small, *counts, "--job-seconds", 1, "--data", self.folder / "data", *words, status=status)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, module_cache: Path, quick_compiler: str) -> Bench:
    environment = {**os.environ, "XDG_CACHE_HOME": str(module_cache), "CXX": quick_compiler}
    return Bench(tmp_path_factory.mktemp("figures"), environment)


def test_the_whole_runs_stops_and_goes_on(bench: Bench) -> None:
    assert f"job: {2 * 2} measurements" in bench.measure("--plan") and not bench.state.exists()
    assert "--only: there is no fast; there are:" in bench.measure("--only", "fast", status=1)
    said = bench.measure("--limit", "2")
    assert "left: cpu: 2 measurements" in said and not bench.state.exists()
    assert "all is measured" in bench.measure("--parts", "cpu")
    said = bench.measure("--lanes", "2" if len(os.sched_getaffinity(0)) > 1 else "1")
    assert "cpu, own" not in said and "all is measured" in said
    records = {(app, part, name): row for app, part, name, row in State(bench.state).all(steps.PARTS)}
    assert len(records) == MEASURED and not [row["failed"] for row in records.values() if "failed" in row]
    assert all(row["card"] == "the emulated device" and row["date"] for row in records.values())
    assert records["grep", "task", "paper"]["compared_bytes"] > 0 and records["grep", "task", "paper"]["stages"]
    assert records["grep", "job", "tail round-1"]["digest"] == records["grep", "job", "cpu-only round-1"]["digest"]
    assert bench.measure() == "nothing is left to measure\n"


def test_the_report_needs_no_device_and_says_that_there_was_no_gpu(bench: Bench) -> None:
    page = bench.folder / "page.md"
    page.write_text(f"# Title\n\n{BEGIN}\n{END}\n\n## Next\n")
    said = bench("report", "--page", page, "--plots", bench.folder / "plots")
    text = page.read_text()
    assert text.startswith(f"# Title\n\n{BEGIN}\n- Fig. 5 and 6: the emulated device")
    assert text.endswith(f"{END}\n\n## Next\n")
    assert "They say nothing of a GPU" in text and "| blackscholes, paper |" in text and str(bench.folder) not in text
    if importlib.util.find_spec("matplotlib"):
        assert sorted(path.name for path in (bench.folder / "plots").iterdir()) == [f"fig{n}.svg" for n in (4, 5, 6, 7)]
        assert "![A GPU task against one CPU core (Fig. 5) (emulated device: says nothing of a GPU)](plots/fig5.svg)" in text
    else:
        assert "matplotlib is not installed" in said


def test_rows_of_another_card_are_not_mixed_in(bench: Bench) -> None:
    path = bench.state / "grep.json"
    path.write_text(path.read_text().replace("the emulated device", "NVIDIA H200"))
    said = bench.measure("--redo", "--parts", "task", "--apps", "blackscholes", status=1)
    assert "measured on NVIDIA H200, this machine has the emulated device" in said


def test_a_process_that_dies_costs_one_measurement(bench: Bench) -> None:
    """A filter is not needed for that: the child's own code is made to end it at the second measurement."""
    killer = bench.folder / "killer"
    killer.mkdir()
    (killer / "sitecustomize.py").write_text(
        "import os, sys\n"
        "if any('figures.child' in a or a == '-m' for a in sys.orig_argv) and '\"part\": \"task\"' in sys.orig_argv[-1]:\n"
        "    import bench.figures.device as d\n"
        "    real = d.DeviceParts.task\n"
        "    d.DeviceParts.task = lambda self, name: os.abort() if name == 'default' else real(self, name)\n")
    state, here = bench.folder / "died", dict(os.environ)
    here["PYTHONPATH"] = os.pathsep.join([str(killer), str(ROOT), here.get("PYTHONPATH", "")])
    argv = [sys.executable, "-m", "bench.figures", "--device", "emulated", "--scale", "0.00005", "--apps", "blackscholes",
            "--parts", "task", "--only", "default,paper", "--data", bench.folder / "data", "--state", state]
    done = subprocess.run([str(a) for a in argv], cwd=ROOT, capture_output=True, text=True, check=False, env=here)
    assert done.returncode == 0, done.stdout + done.stderr
    records = State(state).records("blackscholes", "task")
    assert records["default"]["failed"] == "its process ended with signal 6" and records["paper"]["seconds"] > 0
