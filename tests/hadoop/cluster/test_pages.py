"""Every command of the pages that use a Hadoop is typed here. What docs/cluster.md needs is in test_cluster_page.py."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest

from heterodoop.hadoop.cluster import Cluster

from ...pages import CLUSTER, ON_HADOOP, ROOT, run_page
from ...support import COMMAND

OTHERS = [page for page in ON_HADOOP if page != CLUSTER and (ROOT / page).exists()]


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
