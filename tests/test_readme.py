"""Every command that the documentation tells a reader to type is typed here, in a copy of a fresh clone.

Blocks marked `shell` are run, page by page, each page in one shell. The README's own blocks come first and install into
the virtual environment that they make; the other pages use it. `make` lines are not run, since `make test` runs this;
the continuous integration script runs them. A C block under a line "`FILE`:" is written to that file first.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in [*(ROOT / "docs").rglob("*.md"), *(ROOT / "apps").rglob("*.md")]
    if "```shell" in path.read_text(encoding="utf-8")
)


def blocks(page: str) -> list[str]:
    return re.findall(r"^```shell\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def commands(page: str) -> str:
    """The page's shell blocks as one script without its `make` lines."""
    lines = "".join(blocks(page)).splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("make "))


def run_page(page: str, folder: Path, environment: Mapping[str, str]) -> str:
    """Write the page's files, run its commands in `folder`; returns what they printed."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for name, source in re.findall(r"^`([\w./-]+)`:\n\n```c\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(source, encoding="utf-8")
    script = folder.parent / f"{page.replace('/', '-')}.sh"
    script.write_text(commands(page), encoding="utf-8")
    argv = ["bash", "-euvo", "pipefail", str(script)]
    done = subprocess.run(argv, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{page}:\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(
    checkout: Path, clean_environment: dict[str, str], quick_compiler: str,
) -> tuple[Path, dict[str, str]]:
    """The copy after the README's commands, and the environment in which `heterodoop` is what they installed."""
    # Its `python3` must be one that is new enough; the system's may not be.
    path = os.pathsep.join([str(Path(sys.executable).parent), clean_environment.get("PATH", os.defpath)])
    run_page("README.md", checkout, {**clean_environment, "PATH": path, "CXX": quick_compiler})
    return checkout, {**clean_environment, "PATH": os.pathsep.join([str(checkout / ".venv" / "bin"), path])}


def test_the_readme_opens_with_the_two_commands() -> None:
    first = blocks("README.md")[0]
    assert re.findall(r"^make \w+", first, re.MULTILINE) == ["make demo", "make test"]
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {"demo", "test", "lint", "bench", "docs", "clean"} <= set(targets)
    steps = (ROOT / ".ci" / "run").read_text().splitlines()
    assert steps[-1] == "make test" and 'phase "demo" make demo' in steps


def test_make_lines_name_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in ["README.md", *PAGES]:
        for line in re.findall(r"^make (\w+)", "".join(blocks(page)), re.MULTILINE):
            assert line in targets


def test_the_readme_commands_work_in_a_fresh_environment(installed: tuple[Path, dict[str, str]]) -> None:
    folder, _ = installed
    assert (folder / "out" / "part-00000").read_bytes() == (folder / "apps/wordcount/expected.txt").read_bytes()
    assert (folder / "out" / "_SUCCESS").exists() and (folder / "out.report" / "report.json").exists()
    assert len(list((folder / "counts").glob("part-*"))) == 4


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_every_page_work(page: str, installed: tuple[Path, dict[str, str]]) -> None:
    folder, environment = installed
    for name in ("out", "out.report", "matches", "matches.report"):
        subprocess.run(["rm", "-rf", name], cwd=folder, check=True)
    assert run_page(page, folder, environment)


def test_the_error_message_in_the_guide_is_the_real_one(installed: tuple[Path, dict[str, str]]) -> None:
    folder, environment = installed
    page = (ROOT / "docs/writing-an-app.md").read_text(encoding="utf-8")
    source = re.search(r"^`longest/map.c`:\n\n```c\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    message = re.search(r"^```text\n(longest/map.c.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert source and message
    (folder / "longest").mkdir(exist_ok=True)
    faulty = source[1].replace("value(length)\n", "value(length) kvpair(1)\n")
    (folder / "longest" / "map.c").write_text(faulty, encoding="utf-8")
    argv = ["heterodoop", "compile", "longest/map.c"]
    done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (3, message[1])
