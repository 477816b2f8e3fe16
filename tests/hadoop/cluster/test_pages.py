"""Every command of the pages that need a Hadoop is typed here. docs/cluster.md starts and ends one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from heterodoop.hadoop import cluster as hadoop
from heterodoop.hadoop.cluster import Cluster

from ...pages import ON_HADOOP, ROOT, run_page
from ...support import COMMAND, environment

OWN = "docs/cluster.md"
OTHERS = [page for page in ON_HADOOP if page != OWN and (ROOT / page).exists()]


@pytest.fixture
def desk(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A folder with the apps, and an environment with this checkout's `heterodoop` in PATH."""
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "heterodoop"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m heterodoop "$@"\n')
    script.chmod(0o755)
    folder = tmp_path / "desk"
    folder.mkdir()
    (folder / "apps").symlink_to(ROOT / "apps")
    return folder, environment({"PATH": f"{script.parent}{os.pathsep}{os.environ['PATH']}"})


def test_the_page_of_the_cluster(desk: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    folder, variables = desk
    state = tmp_path / "state"
    try:
        said = run_page(OWN, folder, {**variables, "XDG_STATE_HOME": str(state)})
    finally:
        hadoop.down(state / "heterodoop" / "cluster")
    assert "Hadoop 3.5.0 is ready" in said and "completed successfully" in said and "is down" in said


@pytest.mark.parametrize("page", OTHERS)
def test_pages_that_use_a_cluster(page: str, desk: tuple[Path, dict[str, str]], cluster: Cluster) -> None:
    """Their lines that start and end a cluster are left out: the tests' own is up."""
    folder, variables = desk
    argv = [cluster.command("hdfs"), "dfs", "-rm", "-r", "-f", "-skipTrash", f"/user/{cluster.state.user}/*"]
    subprocess.run(argv, env=cluster.environment(), check=True)  # what other tests left, under names that the page uses
    ours = cluster.environment(variables)
    left_out = ("make ", "heterodoop cluster up", "heterodoop cluster down")
    with tempfile.TemporaryDirectory(prefix="hd-pages-") as place:
        ours["HETERODOOP_DRIVER_DIR"] = place  # a driver of the user's own is left alone; a socket's path is short
        try:
            assert run_page(page, folder, ours, lambda line: not line.startswith(left_out))
        finally:
            subprocess.run([*COMMAND, "driver", "stop", "--now"], env=ours, capture_output=True)
