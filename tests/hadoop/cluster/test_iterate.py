"""Rounds on a real cluster: the bytes, counters and end of the embedded engine's, also across an interrupt."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

from ...support import COMMAND, ROOT, cli_here, parts
from .site import UBER, Site

APP = ROOT / "apps" / "kmeans"


def test_the_rounds_of_kmeans_go_on_with_the_job_that_an_interrupt_left(site: Site, tmp_path: Path):
    """Two rounds. The order of values within a key is free, so lines are sorted."""
    bundle = tmp_path / "kmeans.hdp"
    cli_here("compile", APP, "-o", bundle, "--arch", "none")
    sides = ["--file", APP / "centroids.txt", "--iterate", "centroids.txt"]
    cli_here("run", bundle, APP / "sample.txt", "-o", tmp_path / "here", *sides, "--rounds", "2", "--cpu-only", "--quiet")
    wanted = json.loads((tmp_path / "here.report" / "report.json").read_text())["iterate"]["rounds"]
    change = [one["user_counters"]["kmeans"]["change"] for one in wanted]
    assert change[0] > change[1]
    path, output = site.put("movies", (APP / "sample.txt").read_bytes()), site.output()
    argv = ["submit", bundle, "-i", path, "-o", output, "-r", "1", *UBER, "-D", "mapreduce.job.maps=1", "--cpu-only", *sides,
            "--until", f"kmeans:change<{change[0]}"]
    process = subprocess.Popen([*COMMAND, *map(str, argv)], env=site.environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr and "is submitted" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    assert "goes on" in process.communicate(timeout=60)[1] and process.returncode == 130
    site.space.remove(f"{output}.rounds/0001.job")  # as if the command had ended before it noted the id: there is the tag
    done = cli_here(*argv, "--json")
    found = json.loads(done.out)["iterate"]
    assert "round 1: job_" in done.message and "which an earlier command submitted" in done.message
    assert found["stopped"] == "until" and [one["value"] for one in found["rounds"]] == change
    assert [one["user_counters"]["kmeans"] for one in found["rounds"]] == [one["user_counters"]["kmeans"] for one in wanted]
    assert [sorted(part.splitlines()) for part in site.parts(output)] == [
        sorted(part.splitlines()) for part in parts(tmp_path / "here")]
    assert site.space.status(f"{output}/_SUCCESS") and site.space.status(f"{output}.rounds") is None
