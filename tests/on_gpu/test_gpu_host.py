"""The script for a GPU host: what it runs, keeps and says; and the benches that it runs, as far as no GPU is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from heterodoop.compiler.source import clauses

from ..support import gone
from . import device_check, gpu_host, sanitize

ROOT = Path(__file__).resolve().parents[2]


def step(name: str, script: str, seconds: int = 60, **more: object) -> gpu_host.Step:
    return gpu_host.Step(name, f"does {name}", (gpu_host.PYTHON, "-c", script), seconds, **more)  # type: ignore[arg-type]


def run(steps: list[gpu_host.Step], folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str, gpus: int = 1) -> int:
    monkeypatch.setattr(sys, "argv", ["gpu_host.py", "--here", "--results", str(folder), *words])
    return gpu_host.main(steps, lambda: ["0", "1"][:gpus])


def test_every_step_is_run_and_what_it_printed_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [step("one", "print('first')"), step("two", "import os; print(os.environ['MORE'])", beside=True,
                                                 environment={"MORE": "second"})]
    assert run(steps, tmp_path, monkeypatch) == 0
    assert [(tmp_path / f"{name}.txt").read_text() for name in ("one", "two")] == ["first\n", "second\n"]
    assert "| one | does one | done |" in (tmp_path / "summary.md").read_text()


def test_a_step_that_fails_or_takes_too_long_fails_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    steps = [step("bad", "raise SystemExit(3)"), step("slow", "import time; time.sleep(60)", 1), step("good", "")]
    assert run(steps, tmp_path, monkeypatch) == 1
    said = capsys.readouterr().out
    assert "failed (exit status 3)" in said and "failed (not done in 1 s)" in said and "| good | does good | done |" in said


def test_nothing_of_a_step_that_takes_too_long_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = (f"import subprocess; child = subprocess.Popen(['sleep', '60']);"
              f" open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid)); child.wait()")
    assert run([step("slow", script, 2)], tmp_path, monkeypatch) == 1
    assert gone(int((tmp_path / "pid").read_text()))


def test_what_cannot_be_run_here_is_named_and_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    steps = [step("two", "raise SystemExit(1)", gpus=2), step("long", "raise SystemExit(1)", 1000)]
    assert run(steps, tmp_path, monkeypatch, "--limit", "100") == 0
    said = capsys.readouterr().out
    assert "needs 2 GPUs, this machine has 1" in said and "allowed 1000 s" in said


def test_an_unknown_step_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(SystemExit, match=r"no such step: chek; there are native, doctor"):
        gpu_host.chosen("task,chek")


def test_the_list_of_steps_names_scripts_that_there_are() -> None:
    command = [sys.executable, "-m", "tests.on_gpu.gpu_host", "--list"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == len(gpu_host.STEPS)
    for known in gpu_host.STEPS:
        if known.command[2].startswith(("bench.", "tests.")):
            subprocess.run([sys.executable, "-m", known.command[2], "--help"], cwd=ROOT, capture_output=True, check=True)


@pytest.mark.parametrize(("report", "status", "said"), [
    ("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", 0, "clean"),
    ("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", 1, "failed (exit status 1)"),
    ("========= ERROR SUMMARY: 1 error\n", 0, "1 found"),
    ("========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n", 0, "clean"),
    ("========= RACECHECK SUMMARY: 12 hazards displayed (12 errors, 0 warnings)\n", 0, "12 found"),
    ("Traceback (most recent call last):\n", 1, "failed (exit status 1)"),
])
def test_a_report_without_a_summary_is_no_clean_one(report: str, status: int, said: str) -> None:
    assert sanitize.verdict(status, report) == said


def test_the_sanitizer_takes_programs_that_there_are() -> None:
    for program in sanitize.PROGRAMS:
        assert (ROOT / program.source).exists() and (ROOT / program.text).stat().st_size > 3000


def test_the_program_with_every_clause_is_checked_on_the_emulated_device(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--device", "emulated", "--only", "clauses", "--opt", "default"]
    monkeypatch.setattr(sys, "argv", ["device_check.py", *words])
    assert device_check.main() == 0
    assert "1 equal, 0 cpu-only, 0 different, 0 failed" in capsys.readouterr().out


def test_that_program_has_every_clause() -> None:
    folder = ROOT / sanitize.CODEGEN / "clauses"
    text = (folder / "map.c").read_text() + (folder / "combine.c").read_text()
    assert not [clause.name for clause in clauses.CLAUSES if f"{clause.name}(" not in text]
