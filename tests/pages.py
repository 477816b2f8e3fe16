"""Documentation pages and the commands on them: which there are, and running a page's. Not a test module."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLUSTER = "docs/cluster.md"
ON_HADOOP = (CLUSTER, "docs/hadoop.md")  # their commands need a Hadoop: tests/hadoop/cluster runs them


def pages() -> list[str]:
    """Every page but the README that has commands to type."""
    files = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "apps").rglob("*.md")]
    return sorted(str(path.relative_to(ROOT)) for path in files if "```shell" in path.read_text(encoding="utf-8"))


def blocks(page: str) -> list[str]:
    """The contents of a page's `shell` blocks."""
    return re.findall(r"^```shell\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def typed(line: str) -> bool:
    """Not `make`: `make test` runs these tests, and the continuous integration script runs both."""
    return not line.startswith("make ")


def run_page(page: str, folder: Path, environment: Mapping[str, str], keep: Callable[[str], bool] = typed) -> str:
    """Write the page's files, run those of its commands that `keep` accepts in `folder`; returns what they printed."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for name, source in re.findall(r"^`([\w./-]+)`:\n\n```(?:c|python)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(source, encoding="utf-8")
    script = folder.parent / f"{page.replace('/', '-')}.sh"
    script.write_text("".join(filter(keep, "".join(blocks(page)).splitlines(keepends=True))), encoding="utf-8")
    argv = ["bash", "-euvo", "pipefail", str(script)]
    done = subprocess.run(argv, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{page}:\n{done.stdout}"
    return done.stdout
