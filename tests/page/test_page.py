"""The page's data, what bounded a job, the picture, and the command that writes them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from heterodoop.errors import UsageError
from heterodoop.page import attempts, content, picture, render, verdict

from ..support import ROOT, Bundles, cli_here
from .jobs import bar, folder, job


def data(page: str) -> dict:
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_a_page_has_all_attempts_of_a_job_and_their_seconds_are_the_slots(tmp_path: Path) -> None:
    found = data(render.page(attempts.of_folder(folder(tmp_path / "x.report", 500))))
    columns = found["attempts"]
    assert len(columns["name"]) == 500 == len(columns["stages"]["map"]) and columns["name"][3] == "m_000003_0"
    for row, slot in enumerate(found["slots"]):
        sums = sum(length for of, length in zip(columns["row"], columns["length"], strict=True) if of == row)
        assert sums / 1e6 == pytest.approx(slot["seconds"], abs=1e-3)
    assert [slot["name"] for slot in found["slots"][:3]] == ["GPU 1", "CPU 1", "CPU 2"]
    assert "task_cpu" not in columns["stages"] and columns["notes"] == {"7": "HD400; <b>no</b>"}


def test_a_page_needs_no_network_and_no_name_ends_a_tag(tmp_path: Path) -> None:
    page = render.page(attempts.of_folder(folder(tmp_path / "x.report", 20, name="<img src=x> & co")))
    own = page.replace((ROOT / "templates" / "page" / "library" / "echarts.js").read_text(), "")
    assert page.count("</script>") == 3 and "<img src=x>" not in own and "&lt;img src=x&gt; &amp; co" in own
    assert not re.search(r"<[^>]*\b(?:src|href)=|@import|https?://", own)
    assert data(page)["name"] == "<img src=x> & co" and data(page)["attempts"]["words"][2].startswith("</script>&")


def test_tables_say_what_differs_and_what_went_otherwise(tmp_path: Path) -> None:
    found = content.of(attempts.of_folder(folder(tmp_path / "x", 20)))["tables"]
    tables = {table["title"]: table["rows"] for table in found}
    assert tables["Settings that differ from the defaults"] == [["mapreduce.task.io.sort.mb", "7", "100"]]
    assert tables["What went otherwise"] == [["faults of GPU workers", "2"]]
    assert tables["Counters of the programs"] == [["<i>", "x", 1]]


@pytest.mark.parametrize(("size", "text"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (4e17, "400 PB")])
def test_amounts(size: float, text: str) -> None:
    assert content.amount(size) == text


def even(stages: dict[str, float], row: int = 0) -> list:
    return [bar(f"m_{n:06}_0", row, n, 1.0, stages=stages, input_bytes=10) for n in range(4)]


def test_the_largest_stage_of_the_side_that_did_most() -> None:
    both = [*even({"read": 0.71, "map": 0.29}), *[bar("m_000009_0", 1, 0, 4, stages={"wait": 3.9}, input_bytes=5)]]
    found = verdict.of(job(both, ("GPU", "CPU")))
    assert found.sentence == "Reading its input: 71 % of the GPUs' time in map tasks." and "storage" in found.helps[0]
    emulated = verdict.of(job(both, ("emulated", "CPU")))
    assert emulated.sentence == "Reading its input: 71 % of the emulated device's time in map tasks."  # it is no GPU


def test_what_else_bounds_a_job() -> None:
    outside = verdict.of(job(even({"read": 1}), seconds=10))
    assert outside.sentence.startswith("Start and end: for 60 % of the job's 10.00 s no task ran.")
    alone = verdict.of(job([*even({"map": 1}), bar("m_000008_0", 1, 0, 7)]))
    assert alone.sentence.startswith("One task: m_000008_0 on CPU 1 ran alone for 43 %") and "splits" in alone.helps[0]
    idle = verdict.of(job([bar("m_000000_0", n % 4, n, 1.0) for n in range(8)], ("CPU",) * 4))
    assert idle.sentence.startswith("Too few tasks: slots were idle for 75 %")
    failed = verdict.of(job([], state="failed", error="no disk"))
    assert failed.sentence == "The job did not succeed: no disk." and not failed.helps
    assert verdict.of(job([])).sentence == "The job had no tasks."
    reduces = [bar("r_000000_0", 0, 0, 3.0, stages={"shuffle": 2.0}), bar("m_000000_0", 1, 0, 2.9)]
    assert verdict.of(job(reduces, ("container",) * 2)).sentence.startswith("Fetching map output: 100 % of the containers'")


def test_every_stage_of_the_runtime_has_a_meaning() -> None:
    names = re.search(r"kStageNames\[\] = \{(.*?)\};", (ROOT / "runtime/host/api/tasks.cpp").read_text(), re.DOTALL)
    assert names
    found = set(re.findall(r'"(\w+)"', names[1])) - {*attempts.SECONDS_OF_A_PROCESSOR, attempts.TOTAL}
    assert found <= set(verdict.STAGES) and len(found) > 10


def test_a_picture_has_a_bar_for_each_attempt() -> None:
    text = picture.picture(job([*even({"map": 1}), bar("r_000000_0", 1, 4, 1, outcome="failed")], ("GPU", "CPU")))
    assert text.startswith("<svg ") and text.count("<rect") == 5 + 4 + 1  # bars, legend, ground
    assert "a job: 5.00 s, 5 attempts" in text


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder(tmp_path / "out.report", 30)
    assert cli_here("report", "out.report", "--svg", "out.svg").out == b"page: out.html, picture: out.svg\n"
    assert data((tmp_path / "out.html").read_text())["seconds"] > 0 and (tmp_path / "out.svg").read_text().startswith("<svg")
    again = cli_here("report", "out.report", "-o", "out.html", "--svg", "out.svg")  # a page takes a page's place
    assert again.status == 0
    monkeypatch.setenv("BROWSER", "true %s")
    assert cli_here("report", "out.report", "--open").status == 0
    monkeypatch.setattr("webbrowser.open", lambda url: False)
    assert "HD062" in cli_here("report", "out.report", "--open", status=5).message


def test_what_a_job_cost(tmp_path: Path) -> None:
    place = folder(tmp_path / "out.report", 100)
    report = json.loads((place / "report.json").read_text())
    (place / "report.json").write_text(json.dumps({**report, "seconds": {"total": 7200.0}, "map": {"gpus": 2}}))
    cli_here("report", place, "-o", tmp_path / "x.html", "--price", "cpu=0.05,gpu=2.5")
    assert ["cost", "11.6"] in data((tmp_path / "x.html").read_text())["facts"]  # 2 hours of 16 CPU slots and 2 GPUs
    assert "HD647" in cli_here("report", place, "-o", tmp_path / "y.html", "--price", "1", status=2).message


def test_run_shows_its_page(bundles: Bundles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: shown.append(url) or True)
    words = ROOT / "apps" / "wordcount"
    cli_here("run", bundles.app(words), words / "sample.txt", "-o", tmp_path / "out", "--split-size", "100k", "--open")
    assert shown == [(tmp_path / "out.html").as_uri()]
    found = data((tmp_path / "out.html").read_text())
    report = json.loads((tmp_path / "out.report" / "report.json").read_text())
    assert len(found["attempts"]["name"]) == sum(slot["attempts"] for slot in report["slots"]) > 2
    assert found["state"] == "succeeded" and found["name"] == "wordcount"


def test_nothing_else_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder(tmp_path / "out.report", 3)
    (tmp_path / "mine.html").write_text("mine")
    for options in (("-o", "mine.html"), ("-o", "out.report"), ("--svg", "mine.html"), ("-o", "no/where/x.html")):
        assert "HD061" in cli_here("report", "out.report", *options, status=2).message
    assert (tmp_path / "mine.html").read_text() == "mine" and not (tmp_path / "out.html").exists()


@pytest.mark.parametrize(("name", "text", "why"), [
    ("report.json", None, "No such file"), ("attempts.jsonl", None, "No such file"), ("report.json", "{", "Expecting"),
    ("report.json", "[]", "its format is not"),
    ("report.json", '{"format": "heterodoop-job-report-1"}', "it has no 'started'"),
    ("attempts.jsonl", '{"attempt": "m_0_0", "slot": 99, "started": 0, "seconds": 1, "outcome": ""}', "a slot that"),
    ("attempts.jsonl", "7", "not"),
])
def test_what_is_no_report(tmp_path: Path, name: str, text: str | None, why: str) -> None:
    place = folder(tmp_path / "out.report", 3)
    (place / name).unlink()
    if text is not None:
        (place / name).write_text(text)
    with pytest.raises(UsageError, match=why) as error:
        attempts.of_folder(place)
    assert error.value.code == "HD060"


def test_the_library_is_the_version_that_is_named() -> None:
    library = ROOT / "templates" / "page" / "library"
    version = json.loads((library / "package.json").read_text())["dependencies"]["echarts"]
    locked = json.loads((library / "package-lock.json").read_text())["packages"]["node_modules/echarts"]["version"]
    assert version == locked and f"Apache ECharts {version} " in (library / "echarts.js").read_text()
    assert "Apache License" in (library / "LICENSE").read_text()
