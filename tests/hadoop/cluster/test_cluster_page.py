"""Every command of docs/cluster.md is typed here: it starts and ends a cluster of its own."""

from __future__ import annotations

from pathlib import Path

from heterodoop.hadoop import cluster as hadoop

from ...pages import CLUSTER, run_page


def test_the_page_of_the_cluster(desk: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    folder, variables = desk
    state = tmp_path / "state"
    try:
        said = run_page(CLUSTER, folder, {**variables, "XDG_STATE_HOME": str(state)})
    finally:
        hadoop.down(state / "heterodoop" / "cluster")
    assert "Hadoop 3.5.0 is ready" in said and "completed successfully" in said and "is down" in said
