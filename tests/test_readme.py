"""Every command that the documentation tells a reader to type is typed here, in a copy of a fresh clone.

Blocks marked `shell` are run, page by page, each page in one shell. The README's own blocks come first and install into
the virtual environment that they make; the other pages use it. `make` lines are not run, since `make test` runs this;
the continuous integration script runs them. A C block under a line "`FILE`:" is written to that file first.
Pages that need a Hadoop are run in tests/hadoop/cluster.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .pages import ON_HADOOP, blocks, pages, run_page

ROOT = Path(__file__).resolve().parent.parent
PAGES = [page for page in pages() if page not in ON_HADOOP]


@pytest.fixture(scope="module")
def installed(
    checkout: Path, clean_environment: dict[str, str], quick_compiler: str,
) -> tuple[Path, dict[str, str]]:
    """The copy after the README's commands, and the environment in which `heterodoop` is what they installed."""
    # Its `python3` must be one that is new enough; the system's may not be.
    path = os.pathsep.join([str(Path(sys.executable).parent), clean_environment.get("PATH", os.defpath)])
    run_page("README.md", checkout, {**clean_environment, "PATH": path, "CXX": quick_compiler})
    path = os.pathsep.join([str(checkout / ".venv" / "bin"), path])
    return checkout, {**clean_environment, "PATH": path, "CXX": quick_compiler}


def test_the_readme_opens_with_the_two_commands() -> None:
    first = blocks("README.md")[0]
    assert re.findall(r"^make \w+", first, re.MULTILINE) == ["make demo", "make test"]
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {"demo", "test", "lint", "bench", "docs", "clean"} <= set(targets)
    steps = [line.strip() for line in (ROOT / ".ci" / "run").read_text().splitlines()]
    assert {'phase "demo" make demo', 'phase "test" make test', 'phase "the other Debian" other_debian'} <= set(steps)


def test_make_lines_name_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in ["README.md", *pages()]:
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
    commands = set("".join(blocks(page)).splitlines())
    printed = [line for line in run_page(page, folder, environment).splitlines() if line not in commands]
    text, whole = (ROOT / page).read_text(encoding="utf-8"), "\n".join([*printed, ""]).replace(f"{folder}/", "")
    result = r"^```text\n(task 0: .*?)^```$|^```shell\n[^`]*^```\n```text\n(.*?)^```$"
    shown = re.findall(result, text, re.DOTALL | re.MULTILINE)
    assert len(shown) >= {"docs/scheduling.md": 6, "docs/writing-an-app.md": 1}.get(page, 0)
    assert printed and [part for parts in shown for part in parts if part not in whole] == []


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
