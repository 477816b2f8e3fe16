"""Every command of the pages that use a Hadoop is typed here."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest

from ...pages import CLUSTER, ON_HADOOP, ROOT, run_page
from ...support import COMMAND
from .site import Site


@pytest.mark.parametrize("page", ON_HADOOP)
def test_pages_that_use_a_cluster(page: str, desk: tuple[Path, dict[str, str]], site: Site) -> None:
    """Their lines that start and end a cluster are left out: conftest.py types them."""
    folder, variables = desk
    for left in site.space.list(home := f"/user/{site.cluster.state.user}"):
        if left.name != f"{home}/.staging":
            site.space.remove(left.name)  # what other tests left, under names that the page uses
    ours = site.cluster.environment(variables)
    left_out = ("make ", "heterodoop cluster up", "heterodoop cluster down")
    with tempfile.TemporaryDirectory(prefix="hd-pages-") as place:
        ours["HETERODOOP_DRIVER_DIR"] = place  # a driver of the user's own is left alone; a socket's path is short
        try:
            said = run_page(page, folder, ours, lambda line: not line.startswith(left_out))
        finally:
            subprocess.run([*COMMAND, "driver", "stop", "--now"], env=ours, capture_output=True)
    if page == CLUSTER:
        assert "completed successfully" in said and "Total Nodes:3" in said
        the_streaming_job_gives_what_a_pipe_gives(b"".join(site.parts(f"{home}/counted")))


def the_streaming_job_gives_what_a_pipe_gives(counted: bytes) -> None:
    pipe = r"tr -cs A-Za-z '\n' | sed 's/$/\t/' | LC_ALL=C sort | uniq -c"  # a key, a tab, no value
    text = (ROOT / "apps" / "wordcount" / "sample.txt").read_bytes()
    wanted = subprocess.run(["bash", "-c", pipe], input=text, capture_output=True, check=True).stdout
    assert sorted(counted.splitlines()) == sorted(wanted.splitlines()) != []
